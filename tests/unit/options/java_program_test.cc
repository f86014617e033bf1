#include "options/java_program.h"

#include <gtest/gtest.h>

namespace jprof::options {
namespace {

using Words = std::vector<std::string>;

TEST(ProfileName, IsTheMainClassOrJarOfJava) {
  for (const auto& [command, name] : std::vector<std::pair<Words, std::string>>{
           {{"java", "-cp", "a.jar", "-Xmx1g", "com.acme.Main", "arg"}, "Main"},
           {{"/jdk/bin/java", "-jar", "/x/app.jar", "b.jar"}, "app"},
           {{"java", "-m", "com.acme/com.acme.Main"}, "Main"},
           {{"java", "--module=com.acme/com.acme.Main"}, "Main"},
           {{"java", "@options", "src/Hello.java"}, "Hello"},
           {{"java", "-version"}, "java"},
           {{"java", "-jar"}, "java"},
           {{"/usr/bin/make", "all"}, "make"}})
    EXPECT_EQ(ProfileName(command), name);
}

TEST(OnlyAsksTheVm, IsAJavaCommandWithoutAProgram) {
  for (const Words& command : std::vector<Words>{{"java", "-version"},
                                                 {"/jdk/bin/java", "-Xmx1g", "--version"},
                                                 {"java", "-XshowSettings:all", "-cp", "x"},
                                                 {"java", "--list-modules"}})
    EXPECT_TRUE(OnlyAsksTheVm(command)) << command.back();
  for (const Words& command : std::vector<Words>{{"java", "-showversion", "Main"},
                                                 {"java", "-version", "Main"},
                                                 {"java", "-cp", "x", "Main", "-version"},
                                                 {"java", "-jar", "x.jar", "--help"},
                                                 {"java", "@options", "-version"},
                                                 {"java", "@options"},
                                                 {"javac", "-version"},
                                                 {"launcher"},
                                                 {}})
    EXPECT_FALSE(OnlyAsksTheVm(command));
}

TEST(CommandText, BeginsWithTheMainClassOrJarOfJava) {
  for (const auto& [command, text] : std::vector<std::pair<Words, std::string>>{
           {{"java", "-cp", "app.jar", "com.acme.Main", "-x", "y"}, "com.acme.Main -x y"},
           {{"/jdk/bin/java", "-Xmx1g", "-jar", "/x/app.jar", "b"}, "/x/app.jar b"},
           {{"java", "--module=m/com.acme.Main", "1"}, "--module=m/com.acme.Main 1"},
           {{"java", "-version"}, "java -version"},
           {{"javac", "A.java"}, "javac A.java"},
           {{}, ""}})
    EXPECT_EQ(CommandText(command), text);
}

}  // namespace
}  // namespace jprof::options
