! The same from Fortran: program DIRECTORY
program orders
  use, intrinsic :: iso_c_binding
  use shop_events
  implicit none
  interface
    integer(c_int) function jprof_events_open(directory, options) bind(c)
      import
      character(kind=c_char), intent(in) :: directory(*)
      type(c_ptr), value :: options
    end function
    integer(c_int) function jprof_events_set_level(pattern, level) bind(c)
      import
      character(kind=c_char), intent(in) :: pattern(*)
      integer(c_int), value :: level
    end function
    subroutine jprof_events_close() bind(c)
    end subroutine
  end interface
  character(len=200) :: directory
  integer(c_int64_t) :: i
  call get_command_argument(1, directory)
  call shop_orders_nothing()
  if (jprof_events_open(trim(directory) // c_null_char, c_null_ptr) /= 0) stop 1
  if (jprof_events_set_level("shop::*" // c_null_char, 3) /= 4) stop 2
  do i = 1, 1000
    call shop_orders_order_begin(1, i, "Fortran  ", 7_c_int8_t)
    call shop_orders_order_end(i, int(i, c_int32_t), 0.5_c_double)
  end do
  call shop_orders_everything(-1_c_int8_t, -1_c_int16_t, -1, -1_c_int64_t, -2_c_int8_t, &
      -2_c_int16_t, -2, -2_c_int64_t, 2.5_c_double, -1_c_int64_t, "k", "")
  call jprof_events_close()
end program
