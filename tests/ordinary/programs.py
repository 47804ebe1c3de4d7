"""The ordinary programs that are run bare and preloaded, and what each does.

A case is a script for /bin/sh in a folder with the files of `FILES`; the
shell and all that it starts are preloaded. `needs` are the commands without
which it is left out, `quick` those that run with every build: they come with
Debian's base, with what the build needs, or with tools/packages.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    script: str
    needs: tuple = ()
    quick: bool = False
    status: int = 0          # of the script, where it is not 0


FILES = {
    'lines.txt': ''.join(f'{i * 7919 % 10007} line {i} of some text\n'
                         for i in range(20000)),
    'hello.c': '#include <stdio.h>\n'
               'int twice(int n) { return 2 * n; }\n'
               'int main(void) { printf("hello %d\\n", twice(21)); }\n',
    'hello.go': 'package main\nimport ("fmt"; "os"; "os/signal"; "sync"; '
                '"syscall"; "time")\n'
                'func fault() (s string) {\n'
                '  defer func() { s = fmt.Sprint(recover()) }()\n'
                '  var p *int\n  return fmt.Sprint(*p)\n}\n'
                'func main() {\n  fmt.Println(fault())\n'
                '  c := make(chan os.Signal, 1)\n'
                '  signal.Notify(c, syscall.SIGUSR1)\n'
                '  syscall.Kill(syscall.Getpid(), syscall.SIGUSR1)\n'
                '  select { case s := <-c: fmt.Println(s)\n'
                '  case <-time.After(10 * time.Second): os.Exit(3) }\n'
                '  var w sync.WaitGroup; sums := make([]int, 50)\n'
                '  for i := range sums { w.Add(1); go func(i int) {\n'
                '    for j := 0; j < 100000; j++ { sums[i] += i ^ j }\n'
                '    w.Done() }(i) }\n  w.Wait(); fmt.Println(sums)\n}\n',
    'hello.rs': 'use std::{thread, process::Command};\nfn main() {\n'
                '  let t: Vec<_> = (0..8u64).map(|i| thread::spawn(move || '
                '(0..100000).fold(i, |a, b| a ^ (b * i)))).collect();\n'
                '  for h in t { println!("{}", h.join().unwrap()); }\n'
                '  println!("{:?}", std::panic::catch_unwind(|| '
                '{ let v = vec![1]; v[v.len()] }).is_err());\n'
                '  println!("{:?}", Command::new("true").status().unwrap()'
                '.code());\n}\n',
    'Hello.java': 'public class Hello {\n  static Object none;\n'
                  '  public static void main(String[] a) throws Exception {\n'
                  '    int caught = 0;\n'
                  '    for (int i = 0; i < 200000; i++) try {\n'
                  '      none.hashCode(); } catch (NullPointerException e) '
                  '{ caught++; }\n'
                  '    System.out.println(caught);\n'
                  '    Thread[] t = new Thread[4]; long[] s = new long[4];\n'
                  '    for (int i = 0; i < 4; i++) { int n = i; t[i] = new '
                  'Thread(() -> { for (int j = 0; j < 1000000; j++) '
                  's[n] += new int[] {j ^ n}[0]; }); t[i].start(); }\n'
                  '    for (Thread x : t) x.join();\n'
                  '    for (long x : s) System.out.println(x);\n'
                  '    try { deep(0); } catch (StackOverflowError e) '
                  '{ System.out.println("deep"); }\n  }\n'
                  '  static int deep(int n) { return 1 + deep(n + 1); }\n}\n',
    'many.py': 'import ctypes, faulthandler, json, mmap, os, re, signal\n'
               'import socket, sqlite3, subprocess, tempfile, threading\n'
               'import zlib\n'
               'sums = [0] * 8\n'
               'def work(i):\n'
               '    sums[i] = zlib.crc32(bytes(range(256)) * 9999, i)\n'
               'threads = [threading.Thread(target=work, args=(i,))\n'
               '           for i in range(8)]\n'
               '[t.start() for t in threads]; [t.join() for t in threads]\n'
               'print(sums)\n'
               'hits = []\n'
               'signal.signal(signal.SIGALRM, lambda *a: hits.append(1))\n'
               'signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\n'
               'while len(hits) < 20: pass\n'
               'signal.setitimer(signal.ITIMER_REAL, 0)\n'
               'm = mmap.mmap(-1, 1 << 20); m.write(b"x" * 70000)\n'
               'print(len(m), json.dumps({"a": [1, 2]}))\n'
               'print(subprocess.run(["sh", "-c", "echo child; exit 3"],\n'
               '      capture_output=True))\n'
               'pid = os.fork()\n'
               'if pid == 0:\n'
               '    faulthandler.enable(open(os.devnull, "w"))\n'
               '    ctypes.string_at(16)\n'
               'print(os.waitpid(pid, 0)[1] & 127)\n'
               'a, b = socket.socketpair(); a.sendall(b"q" * 5000)\n'
               'print(b.recv(4, socket.MSG_PEEK), len(b.recv(9999)))\n'
               'print(sqlite3.connect(":memory:").execute(\n'
               '      "select sum(1) from sqlite_master").fetchall())\n',
    'crash.c': '#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n'
               '#include <string.h>\nint main(int c, char **v) {\n'
               '  int n = atoi(v[1]); printf("%d\\n", n); fflush(stdout);\n'
               '  (void)c; if (n == 0) *(volatile int *)8 = 1;\n'
               '  if (n == 1) abort();\n  if (n == 2) raise(SIGBUS);\n'
               '  if (n == 3) __builtin_trap();\n'
               '  return n; }\n',
    'opens.c': '#include <dirent.h>\n#include <stdio.h>\n#include <string.h>\n'
               'static int count(const char *path) {\n'
               '  int n = 0; DIR *d = opendir(path);\n'
               '  while (readdir(d)) n++;\n  closedir(d); return n; }\n'
               '__attribute__((destructor)) static void at_end(void) {\n'
               '  FILE *f = fopen("/proc/self/status", "r");\n'
               '  char line[256];\n'
               '  while (fgets(line, sizeof line, f))\n'
               '    if (!strncmp(line, "Sig", 3) && strncmp(line, "SigQ", 4))\n'
               '      fputs(line, stdout);\n  fclose(f);\n'
               '  printf("%d files %d threads\\n", count("/proc/self/fd"),\n'
               '         count("/proc/self/task")); }\n'
               'int main(void) { return 0; }\n',
    'segv.c': '#define _GNU_SOURCE\n#include <setjmp.h>\n#include <signal.h>\n'
              '#include <stdio.h>\n#include <sys/mman.h>\n'
              '#include <ucontext.h>\n'
              'static sigjmp_buf back; static char *page; static int opened;\n'
              'static void on(int n, siginfo_t *i, void *c) {\n'
              '  (void)c; char *at = i->si_addr;\n'
              '  if (at >= page && at < page + 40960) { opened++;\n'
              '    mprotect((char *)((long)at & -4096L), 4096, 3); return; }\n'
              '  siglongjmp(back, n + i->si_code); }\n'
              'int main(void) {\n  static char stack[65536];\n'
              '  stack_t s = {.ss_sp = stack, .ss_size = sizeof stack};\n'
              '  struct sigaction a = {.sa_sigaction = on,\n'
              '    .sa_flags = SA_SIGINFO | SA_ONSTACK};\n'
              '  sigaltstack(&s, 0); sigaction(SIGSEGV, &a, 0);\n'
              '  page = mmap(0, 40960, 0, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n'
              '  for (int i = 0; i < 40960; i++) page[i] = (char)i;\n'
              '  int how = sigsetjmp(back, 1);\n'
              '  if (!how) *(volatile char *)12 = 1;\n'
              '  printf("%d opened, left by %d\\n", opened, how);\n'
              '  how = sigsetjmp(back, 1);\n'
              '  if (!how) raise(SIGSEGV);\n'
              '  printf("left by %d\\n", how); }\n',
    'seccomp.c': '#include <linux/seccomp.h>\n#include <stdio.h>\n'
                 '#include <sys/prctl.h>\n#include <sys/syscall.h>\n'
                 '#include <unistd.h>\n#include <string.h>\nint main(void) {\n'
                 '  char text[4096]; int ends[2];\n  if (pipe(ends)) return 1;\n'
                 '  prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);\n'
                 '  for (int i = 0; i < 100; i++) { memset(text, i, 4096);\n'
                 '    if (write(ends[1], text, 4096) != 4096) break;\n'
                 '    if (read(ends[0], text, 4096) != 4096) break; }\n'
                 '  memcpy(text, "strict\\n", 7); write(1, text, 7);\n'
                 '  syscall(SYS_exit, 5); }\n',
}

COMPILE = ('gcc',)

CASES = [
    # Shells and what comes with every Debian.
    Case('sh', 'set -e; n=0; while [ $n -lt 500 ]; do n=$((n + 1)); done\n'
         'f() { echo "in $1"; }; f "$(echo sub)"; (exit 3) || echo $?\n'
         'trap "echo caught" USR1; kill -USR1 $$; : | cat; sleep 0 & wait\n'
         'cat <<end\n$n\nend\nsh -c "kill -SEGV \\$\\$" || echo $?', quick=True),
    Case('bash', 'exec bash -c \'a=(3 1 2); echo "${a[@]}"; cat <(echo x); '
         'coproc cat; echo hi >&"${COPROC[1]}"; read -r x <&"${COPROC[0]}"; '
         'exec {COPROC[1]}>&-; echo "$x"; mapfile -t l <lines.txt; echo '
         '"${#l[@]}"; trap "echo t" EXIT; read -t 0.01 y </dev/zero; '
         'ulimit -c 0; { (kill -SEGV $BASHPID); echo $?; } 2>/dev/null; wait; '
         'exit 4\'', ('bash',), True, 4),
    Case('zsh', 'exec zsh -fc \'a=(one two); print -l $a; print ${(j:+:)a}; '
         'for i in {1..200}; do :; done; zmodload zsh/zpty 2>/dev/null; '
         'cat <(print sub) =(print file); (exit 6); print $?\'', ('zsh',)),
    Case('coreutils', 'sort -n lines.txt | uniq -c | tail -3; wc lines.txt\n'
         'sha256sum lines.txt; md5sum lines.txt; cksum lines.txt\n'
         'tr a-z A-Z <lines.txt | head -2; cut -d" " -f1 lines.txt | paste '
         '-sd+ | fold -w 70 | tail -1; seq 1 5 | shuf --random-source=lines.txt'
         '\nsplit -n 3 lines.txt; cat xa? | cmp - lines.txt && ls\n'
         'dd if=lines.txt bs=777 count=9 2>/dev/null | od -c | tail -2\n'
         'factor 1234567890; date -u -d @1; base64 lines.txt | tail -1\n'
         'cp --sparse=always lines.txt c; comm -12 c lines.txt | wc -l\n'
         'truncate -s 1M c; du -b c; tac lines.txt | tail -1; nl c | tail -1 '
         '| wc -c; env -i echo empty; nproc --all | wc -l; expr 3 \\* 4',
         quick=True),
    Case('sort, in threads', 'LC_ALL=C sort --parallel=4 -S 256K lines.txt '
         '-o out; sha256sum out', quick=True),
    Case('timeout', 'timeout 0.1 sleep 9; echo $?; timeout -s KILL 0.1 sleep 9'
         '; echo $?; timeout 5 false', quick=True, status=1),
    Case('mawk', 'mawk \'{ s[$1 % 97] += $1; n++ } END { for (i = 0; i < 97; '
         'i++) print i, s[i]; while (("echo hi" | getline l) > 0) print l; '
         'exit 3 }\' lines.txt', ('mawk',), True, 3),
    Case('gawk', 'gawk \'BEGIN { PROCINFO["sorted_in"] = "@ind_num_asc" } '
         '{ s[$1 % 97] += $1 } END { for (i in s) print i, s[i]; '
         'print "a" |& "cat"; close("cat", "to"); "cat" |& getline x; '
         'print x }\' lines.txt', ('gawk',)),
    Case('sed', 'sed -E "s/([0-9]+) line ([0-9]+)/\\2:\\1/; /7$/d" lines.txt '
         '| sha256sum; sed -i "1,100d" lines.txt; wc -l lines.txt',
         quick=True),
    Case('grep', 'grep -cE "(1|2){2,}.*9" lines.txt; grep -rlw 19999 . ; '
         'grep -q nothing lines.txt', quick=True, status=1),
    Case('find, xargs', 'find . -type f -size +1k -printf "%f %s\\n" | sort; '
         'seq 1 40 | xargs -P4 -n1 sh -c "exit 0"; '
         'find . -name "*.c" -exec cat {} + | wc', quick=True),
    Case('diff, patch', 'sed s/line/LINE/ lines.txt >b; diff -u lines.txt b '
         '>d; patch -s lines.txt d; cmp lines.txt b && wc -l <d',
         ('diff', 'patch'), True),
    Case('perl', 'perl -e \'$SIG{ALRM} = sub { print "alarm\\n" }; alarm 1; '
         'open F, "lines.txt"; @l = sort { $a <=> $b } map { (split)[0] } <F>; '
         'print "$l[9]\\n"; sleep 3; for (1 .. 5) { if (!fork) { exit $_ } } '
         'while ((my $p = wait) > 0) { $s += $? >> 8 } print "$s\\n"; '
         'print `echo sub`; kill SEGV => $$\'; echo $?', quick=True),
    Case('tar, gzip', 'tar --sort=name --mtime=@0 --owner=0 -czf a.tgz *.txt '
         '*.c; mkdir x; tar -C x -xzf a.tgz; cmp x/lines.txt lines.txt; '
         'gzip -9 <lines.txt | gzip -t; zcat a.tgz | sha256sum',
         quick=True),
    Case('file descriptors, threads, masks', 'gcc opens.c -o o; ./o',
         COMPILE, True),
    Case('own SIGSEGV handler', 'gcc -w segv.c -o s; ./s', COMPILE, True),
    Case('ends by signals', 'gcc -w crash.c -o c; ulimit -c 0; for i in '
         '0 1 2 3 4; do sh -c "./c $i; exit \\$?" 2>/dev/null; echo $?; done',
         COMPILE, True),
    Case('seccomp, strict', 'gcc -w seccomp.c -o s; ./s', COMPILE, True, 5),
    Case('static', 'gcc -static hello.c -o h; ./h', COMPILE, True),
    # What builds use.
    Case('gcc, ld, binutils', 'gcc -O2 -g -c hello.c; objdump -d hello.o; '
         'gcc -shared -fPIC hello.c -o l.so; nm -D l.so; ar rc l.a hello.o; '
         'ranlib l.a; gcc l.a -o h; strip h; readelf -s h | wc -l; ./h; '
         'size hello.o', COMPILE, True),
    Case('cc1, as', '$(gcc -print-prog-name=cc1) -quiet -O3 hello.c -o h.s; '
         'as h.s -o h.o; cat h.s; ld -r h.o -o r.o; ls -s r.o', COMPILE, True),
    Case('clang', 'clang -O2 -S hello.c -o -; clang hello.c -o h && ./h; '
         'clang -x c -fsyntax-only -Wall - </dev/null', ('clang',), True),
    Case('make', 'printf "all: a b c d\\na b c d:\\n\\t@sleep 0; echo \\$@ '
         '>\\$@\\nbad:\\n\\t@exit 3\\n" >Makefile; make -j4; cat a b c d; '
         'make bad 2>/dev/null', ('make',), True, 2),
    Case('meson, ninja', 'echo "project(\'p\', \'c\')\nexecutable(\'h\', '
         '\'hello.c\')" >meson.build; meson setup b >log; ninja -C b >log; '
         'b/h; ninja -C b -t targets | sort', ('meson', 'ninja'), True),
    Case('cmake', 'printf "cmake_minimum_required(VERSION 3.10)\\nproject(p '
         'C)\\nadd_executable(h hello.c)\\n" >CMakeLists.txt; cmake -B b >log;'
         ' cmake --build b >log; b/h', ('cmake',)),
    Case('gdb', 'gcc -g hello.c -o h; gdb -nx -batch -ex "break twice" -ex run '
         '-ex bt -ex "print n" -ex c h 2>&1 | grep -v -e Inferior -e debuginfod '
         '-e libthread -e LD_PRELOAD', ('gdb',)),
    Case('strace', 'strace -f -e trace=none -o log sh -c "echo hi; exit 3"',
         ('strace',), status=3),
    Case('git', 'export HOME=$PWD GIT_AUTHOR_DATE="1500000000 +0000" '
         'GIT_COMMITTER_DATE="1500000000 +0000"; git init -q -b m r; cd r; '
         'git config user.email a@b; git config user.name n; '
         'cp ../lines.txt .; git add .; git commit -qm one; sed -i 5d lines.txt;'
         ' git commit -qam two; git log --stat --format=%H; git gc -q; git fsck;'
         ' git diff HEAD~ | sha256sum; git grep -c 999; git clone -q . ../s; '
         'git -C ../s rev-parse HEAD', ('git',)),
    Case('m4, bc', 'echo "define(a, 3)a eval(2**10)" | m4; '
         'echo "scale=50; 4*a(1); 2^200" | bc -l', ('m4', 'bc')),
    # Packers.
    Case('xz', 'xz -T2 -k lines.txt; xz -dc lines.txt.xz | cmp - lines.txt; '
         'xz --robot -l lines.txt.xz | cut -f1-4 | head -2', ('xz',), True),
    Case('zstd', 'zstd -q -T2 -19 lines.txt -o z; zstd -dc z | cmp - '
         'lines.txt; zstd -q -b3 -i0 lines.txt >/dev/null 2>&1; sha256sum z',
         ('zstd',), True),
    Case('lz4', 'lz4 -q -9 lines.txt l; lz4 -dc l | cmp - lines.txt; '
         'sha256sum l', ('lz4',), True),
    Case('bzip2', 'bzip2 -k lines.txt; bzcat lines.txt.bz2 | cmp - lines.txt; '
         'sha256sum lines.txt.bz2', ('bzip2',), True),
    Case('zip', 'zip -qX a.zip hello.c lines.txt; unzip -tq a.zip; '
         'unzip -p a.zip lines.txt | cmp - lines.txt', ('zip', 'unzip')),
    # Data, editors, network.
    Case('sqlite3', 'sqlite3 d.db "pragma journal_mode=wal; create table t(a '
         'integer primary key, b text); with recursive n(i) as (select 1 union '
         'all select i + 1 from n where i < 20000) insert into t select i, '
         'hex(i * 7919 % 10007) from n; create index k on t(b); select count(*)'
         ', sum(a), min(b) from t where b > \'33\'; pragma integrity_check;"; '
         'sqlite3 d.db "select * from no"', ('sqlite3',), True, 1),
    Case('jq', 'echo \'{"a": [3, 1, 2]}\' | jq -c ".a | sort, length"',
         ('jq',)),
    Case('ed', 'printf "2,5d\\n1,3p\\ng/7 line/s/line/LINE/\\n$p\\nw\\nq\\n" '
         '| ed -s lines.txt; sha256sum lines.txt', ('ed',), True),
    Case('vim', 'vim -u NONE -es -c "%s/line/LINE/g" -c "2,5d" -c "sort n" '
         '-c wq lines.txt </dev/null; sha256sum lines.txt', ('vim',)),
    Case('openssl', 'openssl dgst -sha3-256 lines.txt; openssl enc -aes-256-ctr'
         ' -pbkdf2 -S 0011223344556677 -k pw -in lines.txt | openssl dgst -md5;'
         ' openssl genrsa 1024 2>/dev/null >k; openssl rsa -in k -check -noout;'
         ' openssl dgst -sha256 -sign k -out s lines.txt; openssl rsa -in k '
         '-pubout -out p 2>/dev/null; openssl dgst -sha256 -verify p '
         '-signature s lines.txt', ('openssl',), True),
    Case('ssh-keygen', 'ssh-keygen -q -t ed25519 -N "" -C c -f k; ssh-keygen '
         '-l -f k.pub | cut -c1-3; ssh-keygen -y -f k | cut -d" " -f1; '
         'ssh-keygen -Y sign -f k -n t lines.txt 2>/dev/null; echo "c $(cat '
         'k.pub)" >a; ssh-keygen -Y check-novalidate -f a -n t -s '
         'lines.txt.sig <lines.txt | cut -d" " -f1-2', ('ssh-keygen',)),
    Case('gpg', 'export GNUPGHOME=$PWD/g; mkdir -m 700 g; gpg -q --batch '
         '--passphrase pw --pinentry-mode loopback -c lines.txt 2>/dev/null; '
         'gpg -q --batch --passphrase pw --pinentry-mode loopback -d '
         'lines.txt.gpg 2>/dev/null | cmp - lines.txt; echo $?; gpgconf --kill '
         'all', ('gpg',)),
    Case('curl', 'curl -s file://$PWD/lines.txt | sha256sum; python3 -u -c '
         '"import functools as f, http.server as h; s = h.HTTPServer((\'127.0.0'
         '.1\', 0), h.SimpleHTTPRequestHandler); print(s.server_port); '
         's.serve_forever()" >port 2>log & while [ ! -s port ]; do sleep 0.01; '
         'done; curl -s http://127.0.0.1:$(cat port)/lines.txt | sha256sum; '
         'curl -s -o out -w "%{http_code} %{size_download}\\n" '
         'http://127.0.0.1:$(cat port)/no; kill $!; wait 2>/dev/null; '
         'curl -s file:///no', ('curl', 'python3'), status=37),
    Case('nc, socat', 'socat -u FILE:lines.txt UNIX-LISTEN:s & while [ ! -S s '
         ']; do sleep 0.01; done; nc -U s </dev/null | sha256sum; wait; '
         'echo hi | socat - EXEC:cat', ('nc', 'socat')),
    Case('tmux', 'tmux -L a$$ -f /dev/null new-session -d "echo in tmux >t; '
         'sleep 0.2"; while [ ! -s t ]; do sleep 0.01; done; cat t',
         ('tmux',)),
    Case('postgres', 'chmod 777 .; p=$(ls -d /usr/lib/postgresql/*/bin | tail '
         '-1); u="setpriv --reuid=65534 --regid=65534 --clear-groups"; '
         'export LC_ALL=C; $u $p/initdb -N -D d >log 2>&1; printf "create table'
         ' t as select i, i %% 7 as j from generate_series(1, 20000) i;\\n'
         'select j, sum(i), count(*) from t group by j order by j;\\n" | $u '
         '$p/postgres --single -D d postgres 2>/dev/null; $u $p/pg_ctl -D d -w '
         '-l l -o "-k $PWD -c listen_addresses= -c fsync=off" start >log; $u '
         '$p/psql -h $PWD postgres -Atc "select sum(j) from t"; '
         '$u $p/pg_ctl -s -D d -m fast stop', ('postgres', 'setpriv')),
    # Languages with signal handling, stacks and memory of their own.
    Case('python3', 'python3 -S many.py; python3 -c "import sys; '
         'sys.exit(7)"', ('python3',), True, 7),
    Case('python3, multiprocessing', 'python3 -c "import multiprocessing as m; '
         'print(sum(m.Pool(3).map(abs, range(-2000, 0))))"', ('python3',)),
    Case('go', 'export GOCACHE=$PWD/c HOME=$PWD GO111MODULE=off '
         'CGO_ENABLED=0; go build hello.go; ./hello', ('go',)),
    Case('rustc', 'export HOME=$(getent passwd $(id -u) | cut -d: -f6); rustc -O hello.rs;  ./hello 2>/dev/null',
         ('rustc',)),
    Case('java', 'javac Hello.java; java -Xmx256m Hello; java '
         '-XX:+UseSerialGC -Xss300k -cp . Hello', ('java', 'javac')),
    Case('node', 'node -e "const {Worker} = require(\'worker_threads\'); let n '
         '= 0; for (let i = 0; i < 4; i++) new Worker(\'require(\\"worker_threads'
         '\\").parentPort.postMessage(Array.from({length: 99999}, (_, i) => i '
         '* i).reduce((a, b) => a + b))\', {eval: true}).on(\'message\', m => '
         '{ n += m; console.log(n) }); console.log(require(\'zlib\').gzipSync('
         'require(\'fs\').readFileSync(\'lines.txt\')).length); '
         'process.on(\'exit\', () => console.log(require(\'child_process\')'
         '.execSync(\'echo child\').toString()))"', ('node',)),
    Case('sbcl', 'sbcl --noinform --no-userinit --disable-debugger --eval '
         '"(progn (print (loop repeat 300 sum (length (make-array 100000)))) '
         '(gc :full t) (print (handler-case (sb-sys:with-pinned-objects () '
         '(sb-sys:sap-ref-8 (sb-sys:int-sap 8) 0)) (error () :fault))) '
         '(labels ((f (n) (+ 1 (f (+ 1 n))))) (print (handler-case (f 0) '
         '(sb-kernel::control-stack-exhausted () :deep)))) (exit :code 3))" '
         '2>/dev/null', ('sbcl',), status=3),
    Case('guile', 'guile --no-auto-compile -c "(use-modules (ice-9 threads)) '
         '(display (par-map (lambda (i) (* i i)) (iota 20))) (display (catch #t '
         '(lambda () (let f ((n 0)) (if (< n 99999) (+ 1 (f (+ n 1))) (car n)))) '
         '(lambda (k . _) k)))" 2>/dev/null',
         ('guile',)),
    Case('lua', 'lua5.4 -e "local t = {} for l in io.lines(\'lines.txt\') do t[#t '
         '+ 1] = l end table.sort(t) print(t[1], #t) print(pcall(string.rep, '
         '\'x\', -1)) local c = coroutine.wrap(function() coroutine.yield(4) '
         'end) print(c()) os.exit(2)"', ('lua5.4',), status=2),
    Case('tclsh', 'echo "after 1 {puts timer; set x 1}; vwait x; puts [exec '
         'echo sub]; puts [expr {2**100}]; exit 5" | tclsh', ('tclsh',),
         status=5),
    Case('busybox, static', 'busybox sh -c "busybox seq 1 9 | busybox sort -r"',
         ('busybox',)),
    Case('setuid', 'cp /usr/bin/id i; chown root i; chmod 4755 . i; '
         'setpriv --reuid=65534 --clear-groups ./i -u', ('setpriv',)),
]
