# Tries one way out of a sandbox and prints what came of it.
use strict; use Socket; use IO::Socket::INET;
my ($way, @given) = @ARGV;
$SIG{ALRM} = sub { print "silent\n"; exit };
alarm 3;
sub tcp { my ($host, $port, $text) = @_;
  my $s = IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port, Timeout => 2) or return "closed: $@";
  print $s $text; local $/; my $got = <$s>; return $got // '' }
if ($way eq 'tcp') { print tcp($given[0], $given[1], "GET / HTTP/1.0\r\nHost: $given[0]\r\n\r\n") }
elsif ($way eq 'say') { $given[2] =~ s/\\r\\n/\r\n/g; print tcp(@given) }
elsif ($way eq 'hex') { print unpack('H*', tcp($given[0], $given[1], pack('H*', $given[2]))) }
elsif ($way eq 'name') { my @found = gethostbyname($given[0]); print @found ? inet_ntoa($found[4]) : 'no such name' }
elsif ($way eq 'udp') {
  my $s = IO::Socket::INET->new(PeerAddr => $given[0], PeerPort => 53, Proto => 'udp') or do { print "refused: $!"; exit };
  my $query = pack('n6', 7, 256, 1, 0, 0, 0) . join('', map { chr(length) . $_ } split(/\./, $given[1])) . pack('Cn2', 0, 1, 1);
  defined(send($s, $query, 0)) or do { print "refused: $!"; exit };
  recv($s, my $answer, 512, 0); print length($answer // '') ? 'answered' : "silent" }
elsif ($way eq 'tcp6') {
  socket(my $s, AF_INET6, SOCK_STREAM, 0) or do { print "closed: $!"; exit };
  connect($s, pack_sockaddr_in6($given[1], Socket::inet_pton(AF_INET6, $given[0]))) or do { print "closed: $!"; exit };
  syswrite $s, "GET / HTTP/1.0\r\n\r\n"; local $/; print scalar <$s> }
elsif ($way eq 'frame') { print socket(my $s, 17, SOCK_RAW, 0x0300) ? 'allowed' : "denied: $!" }
elsif ($way eq 'bound') {
  socket(my $s, AF_INET, SOCK_DGRAM, 0);
  setsockopt($s, SOL_SOCKET, 25, "eth0\0") or die "$!";
  print defined(send($s, 'x', 0, pack_sockaddr_in(9, inet_aton($given[0])))) ? 'sent' : "refused: $!" }
elsif ($way eq 'listen') {
  alarm 0;
  my $l = IO::Socket::INET->new(LocalPort => $given[0], Listen => 5, ReuseAddr => 1) or die "$!";
  while (my $s = $l->accept) { print $s "$given[1]\n" } }
