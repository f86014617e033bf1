import java.util.ArrayList;
import java.util.List;

/**
 * The program that scripts/demo profiles: generates a text, counts its words, sorts them, prints
 * the ten most frequent. The hot path is the comparison of words: in the tree of counts (find) and
 * in the merge sort (merge).
 */
public final class Demo {
    static final class Node {
        final String word;
        int count;
        Node left;
        Node right;

        Node(String word) {
            this.word = word;
        }
    }

    private long seed = 42;
    private Node root;

    public static void main(String[] arguments) {
        int words = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 400_000;
        Demo demo = new Demo();
        String text = demo.makeText(words);
        demo.countWords(text);
        List<Node> sorted = demo.sort(demo.flatten(demo.root, new ArrayList<>()));
        for (int i = 0; i < 10; i++) {
            System.out.print(sorted.get(i).word);  // without +, whose first use compiles code at run time
            System.out.print(' ');
            System.out.println(sorted.get(i).count);
        }
    }

    String makeText(int words) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < words; i++) {
            appendWord(text, nextRandom() % 97 * (nextRandom() % 89));  // small products are frequent
            text.append(' ');
        }
        return text.toString();
    }

    private void appendWord(StringBuilder text, int number) {
        text.append((char) ('a' + number % 26));
        if (number >= 26) {
            appendWord(text, number / 26);
        }
    }

    private int nextRandom() {
        seed = seed * 6364136223846793005L + 1442695040888963407L;
        return (int) (seed >>> 33);
    }

    void countWords(String text) {
        int start = 0;
        for (int end = text.indexOf(' '); end >= 0; end = text.indexOf(' ', start)) {
            find(text.substring(start, end)).count++;
            start = end + 1;
        }
    }

    Node find(String word) {
        if (root == null) {
            root = new Node(word);
        }
        Node node = root;
        while (true) {
            int order = compare(word, node.word);
            if (order == 0) {
                return node;
            }
            Node next = order < 0 ? node.left : node.right;
            if (next == null) {
                next = new Node(word);
                if (order < 0) {
                    node.left = next;
                } else {
                    node.right = next;
                }
            }
            node = next;
        }
    }

    static int compare(String a, String b) {
        return a.compareTo(b);
    }

    List<Node> flatten(Node node, List<Node> into) {
        if (node != null) {
            flatten(node.left, into);
            into.add(node);
            flatten(node.right, into);
        }
        return into;
    }

    List<Node> sort(List<Node> nodes) {
        if (nodes.size() < 2) {
            return nodes;
        }
        int middle = nodes.size() / 2;
        return merge(sort(nodes.subList(0, middle)), sort(nodes.subList(middle, nodes.size())));
    }

    static List<Node> merge(List<Node> a, List<Node> b) {
        List<Node> merged = new ArrayList<>(a.size() + b.size());
        int i = 0;
        int j = 0;
        while (i < a.size() && j < b.size()) {
            merged.add(before(a.get(i), b.get(j)) ? a.get(i++) : b.get(j++));
        }
        merged.addAll(a.subList(i, a.size()));
        merged.addAll(b.subList(j, b.size()));
        return merged;
    }

    static boolean before(Node a, Node b) {
        return a.count != b.count ? a.count > b.count : compare(a.word, b.word) < 0;
    }
}
