#!/usr/bin/perl
# A bubblewrap that stops where a test says: before or after the mount on PLACE, as long as there is a FIFO by the
# name of before:PLACE or after:PLACE beside this program (a "/" in it is a ":"), by reading it to its end.
use strict; use warnings; use File::Basename;
$^F = 255;
my $here = dirname($0);
my $at = (grep { $ARGV[$_] eq '--args' } 0 .. $#ARGV)[0];
if (defined $at) {
  my $number = $ARGV[$at + 1];
  open(my $given, "<&=$number") or die; local $/; my $text = <$given>; close $given;
  my (@gates, @profile);
  my $gate = sub {
    my ($when, $place) = @_; (my $name = "$when$place") =~ s{/}{:}g;
    return unless -p "$here/$name";
    open(my $fifo, '<', "$here/$name") or die; push @gates, $fifo;
    push @profile, '--file', fileno($fifo), "/tmp/$name";
  };
  my @words = split /\0/, $text;
  while (@words) {
    my $word = shift @words;
    if ($word =~ /^--(ro-)?bind$/) {
      my ($from, $place) = splice @words, 0, 2;
      $gate->('before', $place); push @profile, $word, $from, $place; $gate->('after', $place);
    } else { push @profile, $word }
  }
  pipe(my $read, my $write) or die;
  syswrite $write, join('', map { "$_\0" } @profile); close $write;
  $ARGV[$at + 1] = fileno $read;
  exec '/usr/bin/bwrap', @ARGV;
}
exec '/usr/bin/bwrap', @ARGV;
