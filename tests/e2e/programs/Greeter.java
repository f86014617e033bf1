/**
 * Prints to both streams, reads its arguments and standard input, and exits with the given status.
 */
final class Greeter {
  static String greet(String name) {
    return "hello " + name;
  }

  public static void main(String[] args) throws Exception {
    for (int i = 1; i < args.length; ++i) System.out.println(greet(args[i]));
    System.out.println("input " + System.in.readAllBytes().length);
    System.err.println("on the error stream");
    System.exit(Integer.parseInt(args[0]));
  }
}
