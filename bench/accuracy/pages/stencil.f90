! Smooths a plane by its neighbours, and divides it by weights that are stored the other way round.
! Arguments: MiB of arrays, steps.
program stencil
  implicit none
  integer, parameter :: rows = 512
  integer :: mib, steps, columns, i, j, step
  real(8), allocatable :: now(:, :), next(:, :), source(:, :), weights(:, :)

  call read_argument(1, mib)
  call read_argument(2, steps)
  columns = mib * (1048576 / (4 * 8 * rows))
  allocate (now(rows, columns))
  allocate (next(rows, columns))
  allocate (source(rows, columns))
  allocate (weights(rows, columns))
  do j = 1, columns
    do i = 1, rows
      now(i, j) = mod(i * 31 + j, 97)
      source(i, j) = mod(i + j * 17, 89)
      weights(i, j) = 1 + mod(i * j, 7)
    end do
  end do
  next = now
  do step = 1, steps
    do j = 2, columns - 1
      do i = 2, rows - 1
        next(i, j) = 0.2d0 * (now(i, j) + now(i - 1, j) + now(i + 1, j) + now(i, j - 1) &
                              + now(i, j + 1)) + source(i, j)
      end do
    end do
    do i = 1, rows, 4
      do j = 1, columns
        now(i, j) = next(i, j) / weights(i, j)
      end do
    end do
  end do
  print *, sum(now(:, columns / 2))

contains

  include 'read_argument.inc'
end program stencil
