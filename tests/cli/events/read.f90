! Reads a packet by the generated readers, and prints what it has: read FILE
program read_packet
  use, intrinsic :: iso_c_binding
  use shop_events
  implicit none
  integer(c_size_t), parameter :: head_bytes = 104
  character(len=400) :: file
  integer(c_int8_t), allocatable :: bytes(:)
  integer(c_size_t) :: at, end_, size_
  integer :: unit, file_bytes
  type(shop_orders_order_begin_record) :: begin
  type(shop_orders_order_end_record) :: order_end
  type(shop_orders_everything_record) :: every
  type(shop_orders_nothing_record) :: nothing
  call get_command_argument(1, file)
  open(newunit=unit, file=trim(file), access="stream", form="unformatted", status="old")
  inquire(unit=unit, size=file_bytes)
  allocate(bytes(file_bytes))
  read(unit) bytes
  end_ = transfer(bytes(49:56), 0_c_int64_t) / 8
  at = head_bytes
  do while (at < end_)
    associate (rest => bytes(at + 1:end_))
      size_ = shop_orders_order_begin_read(rest, begin)
      if (size_ > 0) print "(a, 2(1x, i0), 3a, 1x, i0)", "begin", begin%processor, begin%number, &
          " [", begin%customer, "]", begin%kind
      if (size_ == 0) then
        size_ = shop_orders_order_end_read(rest, order_end)
        if (size_ > 0) print "(a, 2(1x, i0), 1x, f3.1)", "end", order_end%number, &
            order_end%duration, order_end%stock
      end if
      if (size_ == 0) then
        size_ = shop_orders_everything_read(rest, every)
        if (size_ > 0) print "(a, 8(1x, i0), 1x, i0, 1x, i0)", "everything", every%a, every%b, &
            every%c, every%d, every%e, every%f, every%g, every%h, len(every%k), len(every%l)
      end if
      if (size_ == 0) then
        size_ = shop_orders_nothing_read(rest, nothing)
        if (size_ > 0) print "(a)", "nothing"
      end if
      if (size_ == 0) stop 1
      if (shop_orders_order_end_read(rest(1:10), order_end) /= 0) stop 2
    end associate
    at = at + size_
  end do
end program
