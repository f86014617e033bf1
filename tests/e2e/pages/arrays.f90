! Two arrays of Fortran, allocated in two subroutines.
program arrays
  use iso_c_binding
  implicit none
  real(8), allocatable, target :: a(:), b(:)
  call first(a)
  call second(b)
  print '(a,z0,a,z0)', 'first ', transfer(c_loc(a), 0_8), ' ', size(a) * 8
  print '(a,z0,a,z0)', 'second ', transfer(c_loc(b), 0_8), ' ', size(b) * 8
contains
  subroutine first(x)
    real(8), allocatable, intent(out) :: x(:)
    allocate(x(300000))
    x = 1
  end subroutine
  subroutine second(x)
    real(8), allocatable, intent(out) :: x(:)
    allocate(x(400000))
    x = 2
  end subroutine
end program
