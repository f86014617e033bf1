#include "events/spec/checked_xml.h"

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>
#include <libxml/xmlschemas.h>

#include <algorithm>
#include <cstdarg>
#include <unordered_map>

namespace jprof::events {
namespace {

constexpr int kMostDepth = 32;

struct Fault {
  std::string message;  // empty if there is none
  Place place;
};

// What the callbacks of one parser need, by its _private.
struct Parsing {
  std::string_view text;
  std::unordered_map<const xmlNode*, Place> places;
  Fault fault;
  // The last place that was asked for. Offsets rarely decrease, so the text is read about once.
  size_t offset = 0, line_start = 0;
  int line = 1;
};

Place PlaceOf(Parsing& parsing, size_t offset) {
  if (offset < parsing.offset) {
    parsing.offset = parsing.line_start = 0;
    parsing.line = 1;
  }
  for (; parsing.offset < offset; ++parsing.offset) {
    if (parsing.text[parsing.offset] != '\n') continue;
    ++parsing.line;
    parsing.line_start = parsing.offset + 1;
  }
  return {.line = parsing.line, .column = static_cast<int>(offset - parsing.line_start + 1)};
}

// xmlByteConsumed is wrong for long texts.
size_t OffsetOf(const xmlParserCtxt* context, std::string_view text) {
  const xmlParserInput& input = *context->input;
  return std::min<size_t>(text.size(),
                          input.consumed + static_cast<size_t>(input.cur - input.base));
}

void KeepFirst(Parsing& parsing, std::string message, Place place) {
  if (parsing.fault.message.empty()) parsing.fault = {std::move(message), place};
}

// Returns libxml2's message on one line, without the names of facets.
std::string PlainMessage(const char* message) {
  std::string text = message == nullptr ? "is not valid" : message;
  std::ranges::replace(text, '\n', ' ');
  while (text.ends_with(' ') || text.ends_with('.')) text.pop_back();
  if (const size_t facet = text.find("[facet '"); facet != text.npos) {
    const size_t end = text.find("] ", facet);
    if (end != text.npos) text.erase(facet, end + 2 - facet);
  }
  return text;
}

void OnStructuredError(void* data, xmlErrorPtr error) {
  auto& parsing = *static_cast<Parsing*>(data);
  Place place{.line = error->line, .column = std::max(error->int2, 1)};
  const auto* node = static_cast<const xmlNode*>(error->node);
  while (error->domain == XML_FROM_SCHEMASV && node != nullptr) {
    const auto found = parsing.places.find(node);
    if (found != parsing.places.end()) {
      place = found->second;
      break;
    }
    node = node->parent;
  }
  if (error->level >= XML_ERR_ERROR) KeepFirst(parsing, PlainMessage(error->message), place);
}

// Each element's place is that of the last '<' before the parser: attributes cannot contain one.
void OnElement(void* data, const xmlChar* name, const xmlChar* prefix, const xmlChar* uri,
               int namespaces, const xmlChar** spaces, int attributes, int defaulted,
               const xmlChar** values) {
  auto* context = static_cast<xmlParserCtxt*>(data);
  auto& parsing = *static_cast<Parsing*>(context->_private);
  xmlSAX2StartElementNs(data, name, prefix, uri, namespaces, spaces, attributes, defaulted, values);
  const size_t offset = OffsetOf(context, parsing.text);
  const size_t start = parsing.text.rfind('<', offset == 0 ? 0 : offset - 1);
  const Place place = PlaceOf(parsing, start == parsing.text.npos ? offset : start);
  if (context->node != nullptr) parsing.places[context->node] = place;
  if (context->nodeNr > kMostDepth) {
    KeepFirst(parsing, "elements are nested too deeply", place);
    xmlStopParser(context);
  }
}

void OnDocumentType(void* data, const xmlChar*, const xmlChar*, const xmlChar*) {
  auto* context = static_cast<xmlParserCtxt*>(data);
  auto& parsing = *static_cast<Parsing*>(context->_private);
  KeepFirst(parsing, "a document type (<!DOCTYPE) is not allowed here; remove it",
            PlaceOf(parsing, OffsetOf(context, parsing.text)));
  xmlStopParser(context);
}

template <typename T, void (*kFree)(T*)>
struct Freed {
  void operator()(T* object) const { kFree(object); }
};
using Parser = std::unique_ptr<xmlParserCtxt, Freed<xmlParserCtxt, xmlFreeParserCtxt>>;
using Document = std::unique_ptr<xmlDoc, Freed<xmlDoc, xmlFreeDoc>>;
using SchemaParser =
    std::unique_ptr<xmlSchemaParserCtxt, Freed<xmlSchemaParserCtxt, xmlSchemaFreeParserCtxt>>;
using Schema = std::unique_ptr<xmlSchema, Freed<xmlSchema, xmlSchemaFree>>;
using Validator =
    std::unique_ptr<xmlSchemaValidCtxt, Freed<xmlSchemaValidCtxt, xmlSchemaFreeValidCtxt>>;

Document Parse(std::string_view text, Parsing& parsing) {
  const Parser parser(xmlNewParserCtxt());
  if (!parser) return nullptr;
  parser->_private = &parsing;
  parser->sax->startElementNs = OnElement;
  parser->sax->internalSubset = OnDocumentType;
  parser->sax->serror = [](void* data, xmlErrorPtr error) {
    OnStructuredError(static_cast<xmlParserCtxt*>(data)->_private, error);
  };
  // Any text is read as UTF-8, so that offsets are those of its bytes.
  constexpr int kOptions = XML_PARSE_NONET | XML_PARSE_NOCDATA | XML_PARSE_IGNORE_ENC;
  Document document(xmlCtxtReadMemory(parser.get(), text.data(), static_cast<int>(text.size()),
                                      nullptr, nullptr, kOptions));
  if (!document) KeepFirst(parsing, "is not XML", {1, 1});
  return document;
}

void Validate(xmlDoc* document, Parsing& parsing) {
  const SchemaParser parser(xmlSchemaNewMemParserCtxt(kSchema, static_cast<int>(kSchemaSize)));
  const Schema schema(parser ? xmlSchemaParse(parser.get()) : nullptr);
  const Validator validator(schema ? xmlSchemaNewValidCtxt(schema.get()) : nullptr);
  if (!validator) return KeepFirst(parsing, "there is not enough memory to check it", {1, 1});
  xmlSchemaSetValidStructuredErrors(validator.get(), OnStructuredError, &parsing);
  xmlSchemaSetValidOptions(validator.get(), XML_SCHEMA_VAL_VC_I_CREATE);  // default values
  if (xmlSchemaValidateDoc(validator.get(), document) != 0)
    KeepFirst(parsing, "is not valid", {1, 1});
}

const char* Text(const xmlChar* text) { return reinterpret_cast<const char*>(text); }

// Returns the text with each run of white space as one space, and none at its ends.
std::string Collapsed(std::string_view text) {
  std::string collapsed;
  for (const char byte : text) {
    const bool space = byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
    if (!space) {
      collapsed += byte;
    } else if (!collapsed.empty() && collapsed.back() != ' ') {
      collapsed += ' ';
    }
  }
  if (collapsed.ends_with(' ')) collapsed.pop_back();
  return collapsed;
}

Element Convert(const xmlNode* node, const Parsing& parsing) {
  Element element;
  element.name = Text(node->name);
  if (const auto found = parsing.places.find(node); found != parsing.places.end())
    element.place = found->second;
  for (const xmlAttr* one = node->properties; one != nullptr; one = one->next) {
    xmlChar* value = xmlNodeListGetString(node->doc, one->children, 1);
    element.attributes.emplace_back(Text(one->name),
                                    Collapsed(value == nullptr ? "" : Text(value)));
    xmlFree(value);
  }
  std::string text;
  for (const xmlNode* child = node->children; child != nullptr; child = child->next) {
    if (child->type == XML_ELEMENT_NODE) element.children.push_back(Convert(child, parsing));
    if (child->type == XML_TEXT_NODE && child->content != nullptr) text += Text(child->content);
  }
  element.text = Collapsed(text);
  return element;
}

}  // namespace

std::string_view Element::operator[](std::string_view attribute) const {
  for (const auto& [key, value] : attributes)
    if (key == attribute) return value;
  return {};
}

const Element* Element::Child(std::string_view child) const {
  const auto found = std::ranges::find(children, child, &Element::name);
  return found == children.end() ? nullptr : &*found;
}

Result<Element> ReadCheckedXml(std::string_view text, std::string_view file) {
  if (text.size() > kMostBytes)
    return Fail("{}: has more than {} bytes, which no specification needs", file, kMostBytes);
  Parsing parsing{.text = text, .places = {}, .fault = {}};
  const Document document = Parse(text, parsing);
  if (document && parsing.fault.message.empty()) Validate(document.get(), parsing);
  if (!parsing.fault.message.empty()) {
    const auto& [message, place] = parsing.fault;
    return Fail("{}:{}:{}: {}", file, place.line, place.column, message);
  }
  return Convert(xmlDocGetRootElement(document.get()), parsing);
}

}  // namespace jprof::events
