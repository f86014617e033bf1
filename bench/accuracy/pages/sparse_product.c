// Multiplies a sparse matrix in compressed rows by a vector. Arguments: MiB of arrays, products.
#include <stdio.h>
#include <stdlib.h>

#include "random_numbers.h"

enum { kInRow = 4 };

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const size_t bytes = strtoull(arguments[1], NULL, 10) << 20;
  const size_t rows = bytes / (kInRow * 12 + 20), entries = rows * kInRow;
  uint32_t* const begins = malloc((rows + 1) * sizeof *begins);
  uint32_t* const columns = malloc(entries * sizeof *columns);
  double* const values = malloc(entries * sizeof *values);
  double* const vector = malloc(rows * sizeof *vector);
  double* const product = malloc(rows * sizeof *product);
  uint64_t state = 88172645463325252u;
  for (size_t row = 0; row < rows; ++row) {
    begins[row] = (uint32_t)(row * kInRow);
    vector[row] = (double)(row % 17);
    for (size_t i = 0; i < kInRow; ++i) {
      // Half of them are near the diagonal.
      const uint32_t far = Below(&state, (uint32_t)rows);
      columns[row * kInRow + i] = i % 2 ? far : (uint32_t)((row + far % 64) % rows);
      values[row * kInRow + i] = (double)(far % 5);
    }
  }
  begins[rows] = (uint32_t)entries;
  for (int left = atoi(arguments[2]); left > 0; --left) {
    for (size_t row = 0; row < rows; ++row) {
      double sum = 0;
      for (uint32_t i = begins[row]; i < begins[row + 1]; ++i) sum += values[i] * vector[columns[i]];
      product[row] = sum;
    }
    vector[left % rows] = product[rows / 2];
  }
  printf("%f\n", product[rows / 3]);
  return 0;
}
