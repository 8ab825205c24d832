# perl egress-attempt.pl FILE: tries each line (name, way, arguments, pieces to send in hex) and says what was answered.
use strict;
use warnings;
use Socket qw(:DEFAULT inet_pton pack_sockaddr_in6);
use Socket qw(AF_INET6 PF_INET6);
$| = 1;
$SIG{PIPE} = 'IGNORE';
open my $attempts, '<', $ARGV[0] or die;
while (my $line = <$attempts>) {
  chomp $line;
  my ($name, $way, $args, @sends) = split /\t/, $line;
  my @args = split /,/, $args // '';
  my $answer = '';
  eval {
    local $SIG{ALRM} = sub { die "late\n" };
    alarm 2;
    my $socket = opened($way, @args);
    for my $piece (@sends) {
      my $bytes = pack 'H*', $piece;
      syswrite $socket, $bytes or last;
      # What is answered to each piece before the next.
      sysread $socket, my $got, 4096 or last;
      $answer .= $got;
    }
    while (sysread $socket, my $got, 4096) { $answer .= $got }
    alarm 0;
  };
  my $error = $@;
  alarm 0;
  chomp $error;
  $error =~ s/ at \S+ line.*//s;
  $answer =~ s/[^\x20-\x7e]/./g;
  print join("\t", $name, $error, substr $answer, 0, 300), "\n";
}

sub opened {
  my ($way, $host, $port) = @_;
  my $socket;
  if ($way eq 'proxy') { ($way, $host, $port) = ('tcp', '127.0.0.1', 3128) }
  if ($way eq 'tcp' || $way eq 'udp') {
    socket $socket, PF_INET, $way eq 'tcp' ? SOCK_STREAM : SOCK_DGRAM, 0 or die "socket: $!\n";
    connect $socket, pack_sockaddr_in($port, inet_aton($host)) or die "connect: $!\n";
  } elsif ($way eq 'tcp6' || $way eq 'udp6') {
    socket $socket, PF_INET6, $way eq 'tcp6' ? SOCK_STREAM : SOCK_DGRAM, 0 or die "socket: $!\n";
    connect $socket, pack_sockaddr_in6($port, inet_pton(AF_INET6, $host)) or die "connect: $!\n";
  } elsif ($way eq 'raw') {
    socket $socket, PF_INET, SOCK_RAW, 1 or die "socket: $!\n";
  } elsif ($way eq 'packet') {
    socket $socket, 17, SOCK_RAW, 0x0300 or die "socket: $!\n";
  } elsif ($way eq 'vsock') {
    socket $socket, 40, SOCK_STREAM, 0 or die "socket: $!\n";
  } elsif ($way eq 'unix') {
    socket $socket, PF_UNIX, SOCK_STREAM, 0 or die "socket: $!\n";
    $host =~ s/^@/\0/;
    connect $socket, pack_sockaddr_un($host) or die "connect: $!\n";
  } elsif ($way eq 'replace') {
    unlink $host and die "unlinked\n";
    rename $host, "$host.old" and die "renamed\n";
    open my $file, '>', "$host.new" and die "made\n";
    die "refused: $!\n";
  } elsif ($way eq 'route') {
    die +((system "ip link add forge0 type veth >/dev/null 2>&1") == 0 ? "made\n" : "refused\n");
  }
  return $socket;
}
