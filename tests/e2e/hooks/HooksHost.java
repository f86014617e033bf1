// Calls a JNI library that was compiled with hooks and calls back.
public class HooksHost {
  static native int work(int rounds);

  static void load(String path) {
    System.load(path);
  }

  static int back(int i) {
    return i + 1;
  }

  static int calls(int rounds) {
    return work(rounds);
  }

  public static void main(String[] args) {
    load(args[0]);
    int sum = 0;
    for (int i = 0; i < 50; i++) sum += calls(3);
    System.out.println("SUM " + sum);
  }
}
