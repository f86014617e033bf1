/**
 * One caller with nine callees, of which at least two compete for one of its eight slots
 * (woven_slots_test.py). In each turn the first callee is called nine times, the next one eight
 * times, and so on.
 */
final class Slots {
  static final int TURNS = 1001;

  static int sum;

  static void nine() { sum += 9; }
  static void eight() { sum += 8; }
  static void seven() { sum += 7; }
  static void six() { sum += 6; }
  static void five() { sum += 5; }
  static void four() { sum += 4; }
  static void three() { sum += 3; }
  static void two() { sum += 2; }
  static void one() { sum += 1; }

  static void caller() {
    for (int turn = 0; turn < TURNS; turn++) {
      for (int i = 0; i < 9; i++) nine();
      for (int i = 0; i < 8; i++) eight();
      for (int i = 0; i < 7; i++) seven();
      for (int i = 0; i < 6; i++) six();
      for (int i = 0; i < 5; i++) five();
      for (int i = 0; i < 4; i++) four();
      for (int i = 0; i < 3; i++) three();
      for (int i = 0; i < 2; i++) two();
      one();
    }
  }

  public static void main(String[] args) {
    caller();
    System.out.println("sum " + sum);
  }
}
