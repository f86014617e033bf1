package jprof.trainers;

/**
 * Ordinary work in small methods: what probes cost amid loads, branches and arithmetic, which is not what they cost
 * between empty methods. Transitions loads this class once for each compile state (WorkR: all in C2) and times each
 * kernel with the probes and without. A kernel is a method whose name ends in a digit; one walk makes
 * some hundreds of calls. Nothing here calls the JDK, so that the whole walk is in one state.
 */
final class WorkXX {
  private static final int SIZE = 256;

  private final byte[] text = new byte[SIZE];
  private final int[] heap = new int[SIZE + 1];
  private final int[] keys = new int[4 * SIZE];
  private final int[] op = new int[SIZE];
  private final int[] costs = new int[SIZE];
  private final WorkXX[] list;
  private WorkXX next;
  private WorkXX left;
  private WorkXX right;
  private int key;
  private int at;
  private int size;
  private int sink;

  /** The one whose kernels are driven. */
  WorkXX() {
    list = new WorkXX[SIZE];
    int x = 12345;
    for (int i = 0; i < SIZE; ++i) {
      x = x * 1103515245 + 12345;
      final int random = x >>> 16;
      text[i] = (byte) (random % 4 == 0 ? ' ' : '0' + random % 10);
      op[i] = random % 5;
      costs[i] = random % 97;
      list[i] = new WorkXX(random);
    }
    text[SIZE - 1] = ' ';
    for (int i = 0; i < SIZE; ++i) {
      list[i * 67 % SIZE].next = list[(i + 1) * 67 % SIZE];
      if (i > 0) {
        plant(list[0], list[i]);
      }
    }
  }

  private WorkXX(int key) {
    this.key = key;
    list = null;
  }

  private static void plant(WorkXX root, WorkXX node) {
    WorkXX parent = root;
    while (true) {
      final WorkXX child = node.key < parent.key ? parent.left : parent.right;
      if (child == null) {
        break;
      }
      parent = child;
    }
    if (node.key < parent.key) {
      parent.left = node;
    } else {
      parent.right = node;
    }
  }

  // Numbers in a text, a character a call.
  private boolean atDigit() {
    return text[at] != ' ';
  }

  private int take() {
    return text[at++] - '0';
  }

  private int number() {
    int number = 0;
    while (atDigit()) {
      number = number * 10 + take();
    }
    ++at;
    return number;
  }

  static void sTokens1(WorkXX o) {
    int sum = 0;
    for (o.at = 0; o.at < SIZE; ) {
      sum += o.number();
    }
    o.sink = sum;
  }

  // Numbers in a text, a number a call.
  private int word() {
    int number = 0;
    byte c = text[at++];
    while (c != ' ') {
      number = number * 10 + c - '0';
      c = text[at++];
    }
    return number;
  }

  static void sWords1(WorkXX o) {
    int sum = 0;
    for (int i = 0; i < 4; ++i) {
      for (o.at = 0; o.at < SIZE; ) {
        sum += o.word();
      }
    }
    o.sink = sum;
  }

  // A hash table with open addressing.
  private static int spread(int key) {
    return (key ^ key >>> 7) * 0x9e3779b1 >>> 22;
  }

  private boolean holds(int slot, int key) {
    return keys[slot] == key;
  }

  private int slot(int key) {
    int slot = spread(key);
    while (keys[slot] != 0 && !holds(slot, key)) {
      slot = slot + 1 & 4 * SIZE - 1;
    }
    return slot;
  }

  static void sTable1(WorkXX o) {
    int found = 0;
    for (int i = 0; i < SIZE; ++i) {
      final int key = o.list[i].key + 1;
      final int slot = o.slot(key);
      found += o.keys[slot] == key ? 1 : 0;
      o.keys[slot] = key;
    }
    o.sink = found;
  }

  // A search tree, recursively.
  private WorkXX find(int wanted) {
    if (key == wanted) {
      return this;
    }
    final WorkXX child = wanted < key ? left : right;
    return child == null ? null : child.find(wanted);
  }

  static void sTree1(WorkXX o) {
    int found = 0;
    for (int i = 0; i < SIZE; i += 3) {
      found += o.list[0].find(o.list[i].key) == o.list[i] ? 1 : 0;
    }
    o.sink = found;
  }

  // A heap.
  private boolean less(int i, int j) {
    return heap[i] < heap[j];
  }

  private void swap(int i, int j) {
    final int value = heap[i];
    heap[i] = heap[j];
    heap[j] = value;
  }

  private void push(int value) {
    heap[++size] = value;
    for (int i = size; i > 1 && less(i, i / 2); i /= 2) {
      swap(i, i / 2);
    }
  }

  private int pop() {
    final int top = heap[1];
    heap[1] = heap[size--];
    for (int i = 1, child = 2; child <= size; i = child, child = 2 * i) {
      if (child < size && less(child + 1, child)) {
        ++child;
      }
      if (!less(child, i)) {
        break;
      }
      swap(i, child);
    }
    return top;
  }

  static void sHeap1(WorkXX o) {
    for (int i = 0; i < 32; ++i) {
      o.push(o.list[i].key);
    }
    int sum = 0;
    while (o.size > 0) {
      sum = sum * 31 + o.pop();
    }
    o.sink = sum;
  }

  // A linked list in no order of memory.
  private WorkXX next() {
    return next;
  }

  private int key() {
    return key;
  }

  static void sList1(WorkXX o) {
    WorkXX node = o.list[0];
    int most = 0;
    for (int i = 0; i < SIZE; ++i, node = node.next()) {
      final int key = node.key();
      most = key > most ? key : most;
    }
    o.sink = most;
  }

  // A small interpreter.
  private int step(int i, int value) {
    switch (op[i]) {
      case 0:
        return value + costs[i];
      case 1:
        return value ^ i;
      case 2:
        return value > 0 ? value >> 1 : -value;
      case 3:
        return value * 3;
      default:
        return value - i;
    }
  }

  static void sSteps1(WorkXX o) {
    int value = o.sink;
    for (int i = 0; i < SIZE; ++i) {
      value = o.step(i, value);
    }
    o.sink = value;
  }

  // Hashing a text, block by block.
  private int block(int hash, int from) {
    for (int i = from; i < from + 8; ++i) {
      hash = hash * 31 + text[i];
    }
    return hash;
  }

  static void sHash1(WorkXX o) {
    int hash = 1;
    for (int i = 0; i < 8 * SIZE; i += 8) {
      hash = o.block(hash, i % SIZE);
    }
    o.sink = hash;
  }

  // Small objects that live shortly.
  private static int[] cell(int a, int b) {
    final int[] cell = new int[4];
    cell[a & 3] = b;
    return cell;
  }

  private static int[] plus(int[] a, int[] b) {
    final int[] sum = new int[4];
    for (int i = 0; i < 4; ++i) {
      sum[i] = a[i] + b[i];
    }
    return sum;
  }

  static void sCells1(WorkXX o) {
    int[] sum = cell(0, 1);
    for (int i = 0; i < SIZE / 2; ++i) {
      sum = plus(sum, cell(i, i));
    }
    o.sink = sum[0];
  }

  // Copying and comparing short ranges.
  private boolean same(int i, int j, int length) {
    for (int k = 0; k < length; ++k) {
      if (text[i + k] != text[j + k]) {
        return false;
      }
    }
    return true;
  }

  private void shift(int from, int to, int length) {
    for (int k = 0; k < length; ++k) {
      costs[to + k] = costs[from + k] + 1;
    }
  }

  static void sRanges1(WorkXX o) {
    int equal = 0;
    for (int i = 0; i + 16 < SIZE; ++i) {
      equal += o.same(i, SIZE - 16 - i, 16) ? 1 : 0;
      o.shift(i, SIZE - 16 - i, 8);
    }
    o.sink = equal;
  }
}
