! Multiplies columns of a matrix by rows in place, and then by a transposed copy.
! Arguments: MiB of arrays, columns.
program matrix_product
  implicit none
  integer :: mib, wanted, n, i, j, k
  real(8) :: total
  real(8), allocatable :: left(:, :), right(:, :), transposed(:, :), product(:, :)

  call read_argument(1, mib)
  call read_argument(2, wanted)
  n = int(sqrt(mib * 1048576d0 / (4 * 8)))
  allocate (left(n, n))
  allocate (right(n, n))
  allocate (transposed(n, n))
  allocate (product(n, n))
  do j = 1, n
    do i = 1, n
      left(i, j) = mod(i * 7 + j, 11)
      right(i, j) = mod(i + j * 5, 13)
    end do
  end do
  do j = 1, min(wanted, n)
    do i = 1, n
      total = 0
      do k = 1, n
        total = total + left(i, k) * right(k, j)
      end do
      product(i, j) = total
    end do
  end do
  do j = 1, n
    do i = 1, n
      transposed(j, i) = left(i, j)
    end do
  end do
  do j = 1, min(wanted, n)
    do i = 1, n
      product(i, n + 1 - j) = dot_product(transposed(:, i), right(:, n + 1 - j))
    end do
  end do
  print *, sum(product(:, 1)) + sum(product(:, n))

contains

  include 'read_argument.inc'
end program matrix_product
