/**
 * The table: what each program does, one row a program. Two spaces part the columns, and a line that is indented goes on
 * with the row. The names come first; what no column says, the program does not do.
 *
 * - `-kS --key`: these options take a value, which is the next word or attached; `-o --output =USE`: what the value is.
 * - `: USE USE`: what the operands are, one after the other; the last use stands for all that follow.
 * - `> WHAT`: it prints `nothing`, a `number`, its `input`, what is `fetched`, or its `words`; left out: not known.
 * - `ask /WORD/ REASON`, `block /WORD/ REASON`: a call with such words (one a line) is asked about or blocked. `%` in the
 *   reason is what matched; without a reason it runs a command of its own, or erases. `script`: its input is read for
 *   them too. `plain`: words that are not known are asked about. `harmless /WORD/`: it only looks, or says what it can do.
 * - `code /OPTION/`, `writes /OPTION/`: the value of this option, attached (the first group) or the next word, is shell
 *   code, or a file that is written.
 * - `unseen`, `unseen /WORD/`: it runs files whose effects the command does not tell. `untold`, `untold /WORD/`: it may
 *   touch more than its words tell. `obeys /FILE/`: such files say what it runs: one that the command wrote itself is
 *   asked about. `directory`: it goes by files of its directory.
 * - `host SCHEME`, `hosts SCHEME`: it reaches the host that its first operand names, or all of them. `sends`: its input
 *   leaves the machine. `erases`: it changes or erases the disk that it is given.
 * - `takes code`, `takes first` (before its first operand): options tell it to run something; words that may be any ask.
 * - `leads`: its options end where the first operand begins. `plus`: `+x` is an option as `-x` is. `bundle`: its first
 *   word is letters of options, without a dash.
 * - `runs`, `runs /WORDS/`: a wrapper, which runs the command behind its options, or behind these words and options.
 *   `before N`, `before /WORD/`: so many words, or one such word, stand before that command; `assigns`: so does
 *   `NAME=value`. `shell /OPTION/`: without a command it runs a shell on its input. `moves`, `moves /OPTION/`: elsewhere.
 * - `language /OPTION/`: an interpreter of another language, and the option that carries code; `edits`: it does not run
 *   the files that it is given.
 */
export const ROWS = String.raw`
: true false exit return break continue umask ulimit wait cd chdir pushd popd shift unset  > nothing
getopts  : skip name skip  > nothing
set  -o  leads  plus  > nothing
declare typeset local export readonly trap  > nothing
test [  -vR =evaluated  > nothing
alias  ask /=/ changes what commands mean  > nothing
jobs  code /^-\w*x$/  > nothing
read  -dinNptu  -a =name  : name  > nothing
mapfile readarray  -dnOsuc  -C =code  : name  ask /^-\w*C/m runs a command for the lines it reads  > nothing
let  : evaluated  ask /[A-Z]\w*(?:\W*=|\+\+|--)|(?:\+\+|--)[A-Z]/m changes a setting  > nothing
complete compgen  -AGPSXo  -CF =code  -W =skip  ask /^-\w*[CFW]/m runs what completes words
fc  ask /^/ runs commands of the history
hash  plain  ask /^-\w*p/m can put one program in the place of another  > nothing
enable  plain  ask /^-\w*[fn]/m changes which commands there are  > nothing
bind  plain  ask /^-\w*x/m gives keys commands  > nothing
history  plain  ask /^-\w*[cdps]/m changes the history  > nothing
shopt  plain  ask /^(?:expand_aliases|extdebug|nullglob)$/m changes how code is read  > nothing
sh bash dash zsh ksh ksh93 mksh ash rbash rksh yash posh fish csh tcsh  -oO --rcfile --init-file  leads  plus
    harmless /^--(?:version|help)/
eval source .

rm grm  > nothing  block /^--no-pre/m is there to remove the root directory
rimraf trash-put srm wipe  : remove  > nothing
rmdir unlink  : delete  > nothing
shred  -ns --iterations --size --random-source  : delete  > nothing  ask /^-\w*[rR]|^--rec/m removes trees
cp gcp mv gmv ln link  -St --target-directory --suffix  > nothing
install  -SgmoCt --target-directory --suffix  > nothing
tee sponge dd dcfldd dc3dd
tar bsdtar gtar  takes code  -fCXTbgHKLNV --file --directory --exclude --exclude-from --files-from --transform
    --strip-components
    -IF --use-compress-program --info-script --new-volume-script --rsh-command --rmt-command --to-command =packer
    --checkpoint-action =packer  bundle
truncate fallocate  -sr --size --reference  : overwrite  > nothing
touch  -drtA --date --reference --time  : write  > nothing
mkdir mkfifo  -mZ --mode  : write  > nothing
ddrescue  : skip overwrite skip
unzip  -Px  -d =write  : read skip
cpio  -O =overwrite  --rsh-command =command
zip  takes code  : write read  code /^(?:-TT|--unzip-command(?:=(.*))?)$/s
chmod chown chgrp chattr chcon chflags gchmod gchown  > nothing
    block /^--no-pre/m is there to change the root directory
setfacl  -mxMXdk  : write  ask /^/ changes who may use files
split  takes code  -abClnt  : read write  --filter =command
patch  untold  -pFdBDgVYz  -i --input =read  -o --output -r --reject-file =overwrite  : overwrite read

find gfind  takes code
fd fdfind  takes code  -dtTeEScjog --type --extension --exclude --size --max-depth --min-depth --owner  --changed-within
    --changed-before  leads  ask /^-(?:\w*[xX]|-exec)|.[$\x60]/m runs a command for what it finds
xargs gxargs  -nPLsdEaRSIJ --max-args --max-procs --max-lines --max-chars --delimiter --eof --arg-file
    --process-slot-var  leads
parallel  ask /^/ puts what comes in into code
git  -C --git-dir --work-tree --namespace --super-prefix --attr-source --config-env  -c =skip  leads  directory
    ask /^--(?:exec-path=|config-env)/m takes programs or settings from elsewhere
    ask /^(?:clone|init)\n(?:.*\n)*--templ(?:a|at|ate)?(?:=.|\n|$)/m copies hooks from a template, and runs them
    writes /^--output?(?:-d[a-z]*)?(?:=(.*))?$|^--outp(?:=(.*))?$/s
    untold /^(?!(?:-[Cc]\n.*\n|-.*\n)*(?:status|log|diff|show|blame|grep|describe|ls-\w+|rev-\w+|cat-file|help)(?:\n|$))/
    runs /^(?:.*\n)*?(?:bisect\nrun|submodule\n(?:.*\n)*?foreach)\n/

grep zgrep ag ack egrep fgrep  -mABCdD --max-count --context  -ef --regexp --file --from-file =pattern  : skip read
    > input  --pager --ackrc =command
rg  -gtTmABCjMrE --glob --type --max-count --context  -ef --regexp --file --from-file =pattern  : skip read  > input
    --pre --hostname-bin =command
jq  -L --arg --argjson --indent  -ef --regexp --file --from-file =pattern  : skip read  > input
head tail  -nc --lines --bytes --pid  : read  > input
sort  takes code  -kStT --key --field-separator --buffer-size  -o --output =overwrite  : read  > input
    ask /^--compress-prog/m
uniq  -fsw  : read overwrite  > input
shuf  -in --input-range --head-count  -o --output =overwrite  : read  > input
cut  -bcdf --delimiter --fields  : read  > input
fold base64 base32  -wi  -o =overwrite  : read  > input
xxd  -csloR  : read overwrite  > input
nl  -bdfhilnsvw  : read  > input
od hexdump  -AjNStwenf  : read  > input
strings  -nt  : read  > input
paste comm diff cmp wdiff column expand unexpand stat md5sum sha1sum sha256sum sha512sum cksum sum  : read  > input
zcat bzcat xzcat dir du realpath readlink rev tac  : read  > input
file  -fFmP --magic-file --files-from --separator --parameter  : read  > input
    ask /^-(?:\w*C|-compile)/m writes files
iconv  -ft --from-code --to-code  -o --output =overwrite  : read  > input
tree  -LPI  -o =overwrite  : read  > input
gunzip gzip bzip2 bunzip2 xz unxz zstd unzstd  -o =overwrite  : read  > input
less more most  -oO --log-file --LOG-FILE =overwrite  : read  > input
    code /^(?:\+\+?[!|#](.+)|-k(.*)|--lesskey[\w-]*(?:=(.*))?)$/s
tr  > input
wc  : read  > number
nproc seq expr  > number
ls  -wIT  : read
cat bat  : read  > input  --pager =command
pwd mktemp echo
sed gsed  takes code  -l --line-length  ask /^-[a-zA-Z]*i.*(?:e.|f|l$)/m
    -e --expression =pattern  -f --file =script  : pattern read
awk gawk mawk nawk  takes code  -FvlWi --field-separator --assign --include --load  -e --source =pattern
    -fE --file --exec =script  leads  : pattern read
printf  -v =computed  leads  > words
which type  > words
psql  untold  -oL --output --log-file =overwrite  script  ask /\\!|\bPROGRAM\b|\\(?:g|o|copy|w)\b/i
dc  script  ask /!/
mysql mariadb  untold  script  ask /\\!|\bsystem\b|\\P/i
sqlite3  untold  script  ask /\.(?:shell|system|load|import|output|once)\b|load_extension|writefile|\bedit\(/i

curl  takes code  -AbCeEhHmPQrtuUwxXyYz --data-raw --form-string --header --request --user --user-agent --cookie --proxy
    --referer --max-time --connect-timeout --retry --resolve --connect-to --interface --cacert --cert --key
    --write-out --range --limit-rate --unix-socket --retry-delay --proto --tls-max --dns-servers --url --config
    -o --output =save  -Dc --dump-header --cookie-jar --trace --trace-ascii --libcurl --stderr =overwrite
    --etag-save --hsts --alt-svc --output-dir =overwrite  -T --upload-file =upload
    -dF --data --data-binary --data-ascii --data-urlencode --form --json =body  -K =skip  hosts http  > fetched
    ask /^-(?:-config|\w*K)/m takes its options from a file
wget wget2  takes code  -BtTwQUlARDIXi --header --input-file --user --password --tries --timeout --user-agent
    -O --output-document =save  --post-file --body-file =upload
    -oa --output-file --append-output --save-cookies --warc-file --rejected-log --hsts-file =overwrite
    -P --post-data --body-data --directory-prefix =skip  -e --execute --use-askpass =asked  hosts http  > fetched
http https xh aria2c axel lynx w3m links fetch GET  -ciIstwWlpmQM  host http  > fetched
telnet  -ciIstwWlpmQM  host tcp  > fetched
ftp lftp  -ciIstwWlpmQM  host ftp  > fetched
tftp  -ciIstwWlpmQM  host tftp  > fetched
ping ping6 traceroute  -ciIstwWlpmQM  host icmp  > fetched
dig host nslookup  -ciIstwWlpmQM  host dns  > fetched
whois  -ciIstwWlpmQM  host whois  > fetched
nc ncat netcat  takes code  -giopqswxXITmMGO --proxy --source --source-port --wait --idle-timeout --output
    -ec --exec --sh-exec --lua-exec  sends  > fetched
    block /^-(?:\w*[ec]|-(?:sh-|lua-)?exec)/m would give a program to the other end
socat  takes code  sends  > fetched  block /^(?:EXEC|SYSTEM|SHELL):[^,\n]*/im would give a program (%) to the other end
ssh autossh mosh  takes code  -bcDeFIiJLlmOpQRSWwB  -o =setting  -E =overwrite  leads  host ssh  sends
scp sftp  takes code  -cFiJlPX  -o =setting  -S =packer
rsync  takes code  -BTf  -e --rsh --rsync-path =packer  --exclude --include --filter --files-from --password-file --temp-dir
    --log-file --write-batch --only-write-batch =overwrite  --backup-dir =write

python python2 python3 pypy pypy3  takes first  language /^-[bBdEhiIOqsSuvVx]*c(.*)$/s
perl  takes first  language /^-(?:[A-Za-z0-9]*[eE]|[eE](.+))$/s
ruby  takes first  language /^-(?:[A-Za-z0-9]*e|e(.+))$/s
node nodejs  takes first  language /^(?:-[pi]*e|-pe?|--(?:eval|print)(?:=(.*))?)$/s
bun  language /^(?:-[ep]|--(?:eval|print)(?:=(.*))?)$/s
deno  language /^eval$/
php  takes first  language /^-[rBRE](.*)$/s
lua luajit Rscript R osascript groovy scala ghc  takes first  language /^-e(.*)$/s
pwsh powershell  language /^-(?:c|command|e|ec|encodedcommand)$/i
tclsh guile expect  language /^-c(.*)$/s
elixir julia  language /^(?:-[eE]|--eval(?:=(.*))?)$/s
erl  language /^-eval$/
jshell  language /^-$/
emacs  language /^--?eval(?:=(.*))?$/s  edits
gdb  language /^(?:-i?ex|--eval-command(?:=(.*))?)$/s  edits
vim nvim vi ex  language /^(?:-c(.*)|--cmd|\+(?!\d*$|\/)(.+))$/s  edits
ed  language /^$/  edits

npx bunx uvx  takes first  -pn --package --with --python --from  -c --call =code  directory  obeys /(?:^|\/)package\.json$/
    --script-shell --node-options --userconfig --globalconfig --shell --git =asked  runs
npm pnpm yarn  untold  takes code  -pn --package --with --python --from  -c --call =code  directory  obeys /(?:^|\/)package\.json$/
    --script-shell --node-options --userconfig --globalconfig --shell --git =asked
    runs /^(?:(?!run\n).*\n)*?(?:exec|x|dlx)\n/
    unseen /^(?:run|run-script|test|t|start|stop|restart|exec|x|dlx|install|i|ci|add|rebuild|sync|build)$/m
uv pipx poetry pipenv pdm hatch rye bundle conda asdf  untold  -pn --package --with --python --from  directory
    runs /^(?:.*\n)*?(?:run|exec|x)\n/
    unseen /^(?:run|run-script|test|t|start|stop|restart|exec|x|dlx|install|i|ci|add|rebuild|sync|build)$/m
direnv  directory  unseen /^exec$/m  runs /^exec\n/  before 1
dotenv  -fep --file --env --path  directory  unseen  runs  before /^run$/
mise  -c --command =code  directory  unseen /^(?:run|r|exec|x|install)$/m  runs /^(?:exec|x)\n(?:.*\n)*?--\n/
make gmake  takes code  directory  obeys /(?:^|\/)(?:GNU)?[Mm]akefile$|\.mk$/
    unseen /(?<![^])(?![^]*^(?:-n|--dry-run|--just-print|-v|--version|--help)$)/m
    ask /\$\(shell|^--eval|^-E|\x60|^SHELL=|^\w+[:+?]?=.*[$;|&]/m is given code
    ask /^(?:-f|--file|--makefile)\n(?:-|\/dev\/stdin)$/m reads its rules from the input
go  directory  unseen  code /^--?(?:exec|toolexec|vettool)(?:=(.*))?$/s
    writes /^--?(?:o|\w*profile|trace|outputdir)(?:=(.*))?$/s
gcc g++ cc c++ clang clang++  -o =make  code /^(?:-wrapper|-B(.*)|--?specs=(.*)|-fuse-ld=(\W.*))$/s
    writes /^-(?:MF|MJ)(.*)$/s
watch  -n --interval  leads
hyperfine  -wrmMpcns --warmup --runs --prepare --cleanup --setup  leads  : code
concurrently  -ncp  leads  : code
nodemon  -x --exec =command
script  -c --command =code  : overwrite
man  takes code  -PH --pager --html =command
at batch  harmless /^-(?:l|r|d|c|f|V)/m  ask /^/ plans commands that run unasked
tmux screen start-stop-daemon
    code /^(?:new(?:-session|-window)?|neww|split(?:-window|w)|run(?:-shell)?|if-shell|-d|--)$/
    ask /^(?:new|new-session|new-window|neww|split-window|splitw|run|run-shell|if-shell|send|send-keys|respawn-pane)$/m
    ask /^(?:display-popup|popup|pipe-pane|-dm\w*|-d|-m|-X|-e|-x|--exec|-a|--startas|--)$/m

sudo  -ugpCTRDhrtU --user --group --prompt --close-from --command-timeout --chroot --chdir --host --role --type
    --other-user  runs  assigns  shell /^-(?:\w*[si]|-shell|-login)/m  moves /^(?:D|R|chd|chr|i|login)/
doas  -uC  runs  shell /^-(?:\w*[si]|-shell|-login)/m
pkexec  --user  runs
env  -uC --unset --chdir --argv0  -S --split-string =command  runs  assigns  moves /^(?:C|ch)/
command  runs  harmless /^-[vV]/  > words
exec  -a  runs
nice runcon numactl  -ntrlumNCpi --adjustment  runs
ionice  -cnpPu --class --classdata --pid --pgid --uid  runs
chrt  -TPDp  runs  before 1
taskset  -p  runs  before 1
stdbuf  -ioe --input --output --error  runs
timeout  -ks --kill-after --signal  runs  before 1
time  -f --format  -o --output =overwrite  runs
choom  -np --adjust --pid  runs
uclampset  -mMp  runs
perf  -eoprtIFcCGmx --event --output --repeat --freq --count --filter --cpu --pid --tid --interval-print
    runs /^(?:stat|record|trace|mem|c2c|kmem|kwork|lock|sched|ftrace)\n/
chroot  --userspec --groups  runs  before 1  shell /^/  moves
unshare  -SGRw --setuid --setgid --root --wd --map-user --map-group --map-users --map-groups --propagation
    --setgroups  runs  shell /^/  moves /^(?:R|ro|w)/
nsenter  -tSG --target --setuid --setgid  runs  shell /^/  moves
setpriv  --reuid --regid --groups --inh-caps --ambient-caps --bounding-set --securebits --selinux-label  runs
flock  -wE --timeout --wait --conflict-exit-code  runs  before 1
strace  -aeEIOpPsSuXb --trace  -o --output =overwrite  runs
ltrace  -aAeDFlnpsuwx  -o --output =overwrite  runs
fakeroot  -lsib  runs
proot  -rbwqkS  runs  moves
systemd-run  -uptHME --unit --property --uid --gid --nice --working-directory --setenv --on-active --on-calendar
    --slice  runs  moves /^(?:working|M)/
systemd-inhibit  --what --who --why --mode  runs
caffeinate  -tw  runs
proxychains proxychains4  -f  runs
setarch  runs
    before /^(?:linux\d\d|i\d86|x86_64|uname26|(?:aarch|arm|ppc|mips|s390|sparc|alpha|ia|parisc|riscv)\w*)$/
gosu su-exec setuidgid envdir  runs  before 1
cpulimit  -lpe  runs
softlimit  -amdoslcft  runs
chpst  -ueUnbodpfcrt/  runs
cgexec  -g  runs
daemonize  -acepoluE  runs
sshpass  -pfdP  runs
xvfb-run  -nefps --server-num --error-file --auth-file --server-args  runs
ld-linux  --library-path --preload --argv0 --audit --inhibit-rpath  runs
builtin nohup setsid unbuffer valgrind rlwrap fakechroot firejail dbus-run-session dbus-launch torsocks torify  runs
linux32 linux64 i386 x86_64 catchsegv eatmydata prlimit capsh entr busybox toybox  runs
su runuser sg  -ugGs  -c --command --session-command =command  ask /^/ runs commands as another user
xterm  runs
kubectl oc  untold  runs /^(?:.*\n)*?exec\n(?:.*\n)*?--\n/
ip  runs /^(?:.*\n)*?exec\n/  before 1
docker podman nerdctl docker-compose  untold  takes code  -v --volume --mount =volume  -euw --env --env-file --user --workdir
    --detach-keys --index  before 1  runs /^(?:(?:-.*|compose|container)\n)*exec\n/
    ask /^--privileged|^--pid=host|docker\.sock/m gives a container the machine
    ask /^system\nprune/m removes what is not running

mkfs mke2fs mkswap mkdosfs mkntfs mkexfatfs newfs newfs_msdos mkudffs mkreiserfs mkjfs
    -bCdDeEfFgGiIjJlLmMnNoOPrstTuUz  erases  : write  > nothing  harmless /^(?:--help|--version|-V|-n)$/m
wipefs  erases  harmless /(?<![^])(?![^]*^-(?:-all|-offset.*|\w*[ao]\w*|-force)$)/m
blkdiscard pvcreate pvremove flash_erase  erases
fdisk cfdisk sfdisk gdisk  erases
    harmless /^-(?:-list|-help|-version|\w*[lhVvsdJ]|-dump|-print|-show.*|-verify|-geometry|-getsz)$/m
sgdisk  erases  harmless /(?<![^])(?![^]*^-(?:[oZzdn]|-zap|-clear|-delete))[^]*^-(?:p|i|-print|-info.*|O|v)$/m
parted  erases  harmless /^(?:print|-l|--list|-h|--help|-v|--version)$/m
cryptsetup  block /^(?:luksFormat|erase|luksErase|luksKillSlot|luksRemoveKey|reencrypt)$/m
hdparm  block /^--(?:security-erase|trim-|make-bad-|write-sector|repair-sector|fwdownload|dco-).*/m
nvme  block /^(?:format|sanitize|write.*|delete-ns)$/m
mdadm  block /^-(?:-zero-superblock|-create|-stop|C|S)$/m
badblocks  block /^-\w*[wn]\w*$/m
vgremove lvremove  block /^[^-].*/m
zpool  block /^(?:destroy|create|labelclear)$/m
zfs  block /^(?:destroy|rollback)$/m
flashrom  block /^-\w*[wE]/m
diskutil  block /^(?:erase\w*|zeroDisk|randomDisk|secureErase|partitionDisk|reformat)$/im
debugfs  harmless /^--?(?:help|version)$/m  ask /^/ changes disks
shutdown reboot halt poweroff pm-suspend pm-hibernate kexec  block /^/ would stop the machine
    harmless /^(?:-c|--help|--version|-w|--wtmp-only|--show)$/m
init telinit  block /^[0156sS]$/m % would stop the machine
systemctl
    ask /^(?:-[tpHMn]\n.*\n|-.*\n)*(?:stop|disable|mask|kill|edit|set-default|enable|link)(?=\n|$)/ changes what runs
    ask /^(?:-[tpHMn]\n.*\n|-.*\n)*(?:set-environment|import-environment)(?=\n|$)/ changes what runs
    block /^(?:-[tpHMn]\n.*\n|-.*\n)*(?:reboot|poweroff|halt|kexec|soft-reboot|emergency)(?=\n|$)/ would stop the machine
    block /^(?:-[tpHMn]\n.*\n|-.*\n)*(?:suspend|hibernate|hybrid-sleep|exit|isolate|rescue)(?=\n|$)/ would stop the machine
kill  harmless /^-(?:l|L|-list)/  > nothing
    block /^(?:-(?:[sn]|-signal)\n.*\n|-(?!-\n)..*\n|(?=[^-]|--\n))(?:.*\n)*-?0*1(?:\n|$)/ would end every process
killall5  block /^(?![^]*-0)/ would end every process
pkill killall  -FGgPstuU --signal --uid --euid --parent --pgroup --session --terminal --pidfile  > nothing
    block /^(?:\.\*?|\^?\.?\*?|\^|\$|\^\.\*\$?)$/m would end every process
    block /^(?:-[FGgPst]\n.*\n|-.*\n)*-(?:[uU]|-e?uid)=?\n?[^-\n]+(?:\n-[FGgPst]\n.*|\n-.*)*$/ would end every process
mount  -otLU  : asked  ask /^-a$/m changes the file systems
    block /^-(?:o|-options[=\n]).*\n?.*remount/m would change how the system is mounted
umount  ask /^/ changes the file systems
    block /^-(?:\w*a|-all)|^\/(?:(?:etc|usr|var|home|boot|proc|sys|dev|run)\/*)?$/m would take away what is in use
swapoff  block /^(?:-a|--all)|\/dev\//m would take away memory that is in use
iptables ip6tables  block /^-(?:F|-flush|X|P|-policy)/m would open or close the firewall
nft  block /^(?:flush\s+ruleset|delete\s+table)/m would open the firewall
ufw  block /^(?:disable|reset)$/m would open the firewall
setenforce  block /^(?:0|permissive)$/im would switch off a protection of the system
crontab  harmless /^-l$/m  block /^-r/m % would remove every planned command
    ask /^-e/m % plans commands that run unasked  block /^(?![^]*^-[re])/ would plan commands that run unasked
userdel usermod useradd adduser deluser groupdel passwd chpasswd visudo  ask /^/ changes who may use the machine
    block /^(?:root|toor|0)$/m would change or remove the root user
insmod modprobe rmmod  harmless /^--?(?:help|version)$/m  ask /^/ changes the kernel
sysctl  ask /=|^-\w*[wp]/m changes the kernel
pivot_root  harmless /^--?(?:help|version)$/m  ask /^/ changes the file systems
switch_root  block /./ would remove the root file system
dpkg  untold  ask /^--(?:pre|post)-invoke/m
apt apt-get  untold  ask /::(?:Pre|Post)-Invoke|Pre-Install-Pkgs/
run-parts  ask /./
ssh-keygen  ask /^-D/m
nmap  ask /^--(?:script|interactive)/m
tcpdump  -cCGisTyEFBrj  -w =overwrite  ask /^-z/m
openssl  ask /^-(?:engine|provider-path)/m  writes /^--?(?:out|keyout|writerand)$/
gpg gpg2  -rRuN --recipient --hidden-recipient --local-user --homedir --options  -o --output =overwrite
ctags  ask /^--options/m
`;
