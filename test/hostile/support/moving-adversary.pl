# One process that never stops moving a tree: perl moving-adversary.pl TREE OUTSIDE SECONDS
# It exchanges names of TREE for links to OUTSIDE, makes, links, deletes, mounts and plants programs and
# repositories. It prints how many exchanges took place. Perl, because small images have it.
use strict; use warnings; use Socket; use POSIX ();
my ($tree, $outside, $seconds) = @ARGV;
chdir $tree or die "cannot enter $tree: $!";
my $arm = (POSIX::uname())[4] eq 'aarch64';
my ($RENAMEAT2, $MOUNT, $UNSHARE) = $arm ? (276, 40, 97) : (316, 165, 272);
my $AT_FDCWD = -100;
my $end = time + $seconds;
my $exchanges = 0;

# Where it has the rights of the host, it must not do outside itself what nobody else may: no directory above is a
# link. Nobody else makes links here, so that this can be looked at before.
sub inside {
  my ($path) = @_;
  while ($path =~ s{/[^/]*$}{}) { return 0 if -l $path }
  return 1;
}
# Both names stay; what they lead to changes places.
sub exchange {
  my ($one, $other) = @_;
  return 0 unless inside($one);
  return syscall($RENAMEAT2, $AT_FDCWD, "$one", $AT_FDCWD, "$other", 2) == 0;
}
sub put { my ($path, $text, $mode) = @_; return if -l $path or not inside($path); open(my $f, '>', $path) or return; print $f $text; close $f; chmod $mode // 0644, $path }
sub program { my ($path) = @_; put($path, "#!/bin/sh\necho run >>'$outside/executed'\nexit 1\n", 0755) }
sub repository {
  my ($at) = @_;
  return if -l $at or not inside("$at/x");
  mkdir $at; mkdir "$at/objects"; mkdir "$at/refs";
  put("$at/HEAD", "ref: refs/heads/main\n");
  put("$at/config", "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = \"echo run >>'$outside/executed'; false\"\n");
}

# Beside each name lies a link of the same name with a suffix, which leads out.
my @pairs = (
  ['d', "$outside/d"], ['d/e', "$outside/d/e"], ['f.txt', "$outside/f.txt"], ['sub', "$outside/sub"],
  ['.git', "$outside/git"], ['.git/modules', "$outside/git/modules"], ['.git/hooks', "$outside/git/hooks"],
  ['.git/config', "$outside/git/config"], ['sub/.git', "$outside/git"], ['sub/d', "$outside/d"],
  ['.git/commondir', "$outside/d"], ['.git/worktrees', "$outside/d"], ['node_modules', "$outside/d"],
);
srand(1);
while (time < $end) {
  for (1 .. 200) {
    my ($name, $target) = @{$pairs[int rand @pairs]};
    # A repository that never stands still is refused by every command, and shows nothing.
    next if $name eq '.git' and time % 2;
    my $link = "$name.link";
    symlink $target, $link if inside($link) and not -l $link and not -e $link;
    if (exchange($name, $link)) { $exchanges++; exchange($name, $link) if rand() < 0.7; $exchanges++ }
  }
  my $what = int rand 12;
  if ($what == 0) { unlink 'f.txt'; symlink "$outside/f.txt", 'f.txt'; }
  elsif ($what == 1) { unlink 'f.txt' if -l 'f.txt'; put('f.txt', "inside\n") unless -e 'f.txt' }
  elsif ($what == 2) { mkdir 'd'; mkdir 'd/e' unless -l 'd'; put('d/e/file.txt', "inside\n") }
  elsif ($what == 3) { link "$outside/f.txt", 'hard.txt'; unlink 'hard.txt' }
  elsif ($what == 4) {
    # Refused inside a sandbox; a host that is root could do it, and is not this adversary.
    if ($ENV{IN_SANDBOX}) {
      my ($from, $to) = ("$outside", "d");
      syscall($UNSHARE, 0x10020000); syscall($MOUNT, $from, $to, 0, 4096, 0);
    }
  }
  elsif ($what == 5) {
    mkdir 'node_modules'; mkdir 'node_modules/.bin' unless -l 'node_modules';
    program("node_modules/.bin/$_") for qw(rg bwrap docker setpriv chromium git patch sh cat);
  }
  elsif ($what == 6) { repository('.') }
  elsif ($what == 7) { unlink 'HEAD'; unlink 'config'; rmdir 'refs'; rmdir 'objects' }
  elsif ($what == 8) { mkdir 'nested'; repository('nested/.git') }
  elsif ($what == 9) { unless (-l 'd') { POSIX::mkfifo('d/fifo', 0644); unlink 'd/fifo' } }
  elsif ($what == 10) { unless (-l 'd') { rename 'd/e', 'd/moved'; rename 'd/moved', 'd/e' } }
  elsif (not -l '.git') {
    unlink '.git/HEAD'; mkdir '.git'; mkdir ".git/$_" for qw(commondir modules hooks);
    put('.git/HEAD', "ref: refs/heads/main\n");
  }
}
print "exchanges $exchanges\n";
