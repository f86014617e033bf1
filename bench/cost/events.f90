! The loops of events.c in Fortran: program DIRECTORY. Prints ns of CPU time per call, medians.
program events
  use, intrinsic :: iso_c_binding
  use bench_events
  implicit none
  integer, parameter :: rounds = 41, calls = 200000
  interface
    integer(c_int) function jprof_events_open(directory, options) bind(c)
      import
      character(kind=c_char), intent(in) :: directory(*)
      integer(c_int32_t), intent(in) :: options(3)
    end function
    integer(c_int) function jprof_events_set_level(pattern, level) bind(c)
      import
      character(kind=c_char), intent(in) :: pattern(*)
      integer(c_int), value :: level
    end function
  end interface
  character(len=*), parameter :: names(3) = [character(len=10) :: "off", "statistics", "log"]
  character(len=300) :: directory
  real(c_double) :: taken(rounds, 3), least
  integer :: level, round, ignored, place
  call get_command_argument(1, directory)
  if (jprof_events_open(trim(directory) // c_null_char, [1, 0, 8]) /= 0) stop 1
  do round = 1, rounds
    do level = 0, 2
      ignored = jprof_events_set_level("*" // c_null_char, level)
      least = loop()
      taken(round, level + 1) = loop()
    end do
  end do
  do level = 1, 3
    do round = 1, rounds / 2 + 1  ! the least are removed up to the median
      place = minloc(taken(:, level), 1)
      least = taken(place, level)
      taken(place, level) = huge(least)
    end do
    print '(a, 1x, f0.3)', trim(names(level)), least
  end do
contains
  real(c_double) function loop()
    real(c_double) :: begin, end
    integer(c_int64_t) :: i
    call cpu_time(begin)
    do i = 1, calls
      call bench_cost_work_done(i, int(i, c_int32_t))
    end do
    call cpu_time(end)
    loop = (end - begin) * 1e9 / calls
  end function
end program
