import { expect, it } from 'vitest';
import { hideAssignments } from './hide-assignments.js';

/** Each line is hidden from `|` on, up to the next `|` or its end. */
const HIDDEN = String.raw`
0_PASSWORD9=|swordfish
[PASSWORD=|swordfish
APASSWORD=|swordfish
Password=|swordfish
PASSWORD=|abcd
password =|hunter22
password= |hunter22
password =\t|hunter22
<db.password>|hunter22|</db.password>
password => |hunter22
password :=|hunter22
"password":"|hunter22|"
'password' : |hunter22
password=|abc1
password=|ab1
password=|a-bc
password = |ab$c
password: |w0rd
password=|hunter22|,next
password=|hunter22|;next
password=|hunter22|&next
password=|hunter22| next
password=|hunter22| token=|abc1234x
--password |abcdefgh
--password    |abcdefgh
--password=|abcd
--token |abc123
API_TOKEN=|abcdef
A_TOKEN=|abc
api_token=|abc1234x
access_key=|abc123def456
PWD=|hunter22
MYPWD=|/home/bob1
pwd=|x/dir1
password=|xint32
password=|int32x
password=|sha256x
password=|9config.db
password=|a.b.9
secret: "|two words9|"
secret="|two words|"
secret = '|abc123def|'
secret: \"|abc123def|\"
\"secret\": \"|abc123def|\"
password: "|correct horse|"
password: "|a\"b|"
password: '|a\'b c9|'
password="|Word.|"
SECRET="|abcdef|"
secret_base64=|abc123def
secret-base=|abc123def
secret_b64=|abc123def
secret_value=|abc123def
secret123=|abc123def
jwt=|abc123def
creds=|abc123def
credentials=|abc123def
credential=|abc123def
_auth=|abc123def
x_pass=|abc1
db_pass2=|abc1
api-key=|abc123def
private_key=|abc123def
secretkey=|abc123def
auth_key=|abc123def
encryption_key=|abc123def
encrypt-key=|abc123def
signingkey=|abc123def
account_key=|abc123def
license_key=|abc123def
service_key=|abc123def
subscription-key=|abc123def
shared_key=|abc123def
masterkey=|abc123def
session_key=|abc123def
passwort=|abc1
passphrase=|abc1
passcode=|abc1
passwd=|abc1
pwd=|abc1`;

/** Code, prose, types, placeholders, and names that only resemble a secret's. */
const KEPT = String.raw`
password=swordfish
$password=swordfish
a.b-c_9.password=swordfish
@password=swordfish
zPASSWORD=swordfish
password: swordfish
PASSWORD: swordfish
PASSWORD=abc
x password>hunter22
if (password == hunter22)
password ==hunter22
password::hunter22
password=ab
password=a-b
password = a-bc
password: tr-ue
--password abcdefg
--password ABCDEFGH
--password     abcdefgh
--password -abcdefgh
--token abcdef
--token 123456
API_TOKEN=ab
api_token=abcdef
xAPI_TOKEN=abcdef
API_TOKENx=abcdef
API_TOKEN: abcdef
API_TOKEN= abcdef
token=abc123
nextToken=abc123def456
next_page_token=abc123def456
page-token=abc123def456
continuationToken=abc123def456
cancellation_token=abc123def456
cancelation_token=abc123def456
cancelToken=abc123def456
primary_key=abc123def456
max_token=abc123def456
eos_token=abc123def456
PWD=/home/bob1
OLDPWD=/home/bob1
oldpwd=.\dir1
pwd=C:\dir1
pwd=~/dir1
PWDX=/home/bob1
password=int32
password=uint8
password=i64
password=Uint8Array
password=sha256
password=md5
password=base64
password=utf-8
password=self.token
password=config.db.password
password=config?.db
password=config.db!
password=a.b_1
password: foo(1a2b3c)
password: foo1[0]
password: foo1{x}
secret: "please enter it9"
secret: "two words"
secret: "the word9 x"
secret = "word9 word."
secret = "a word9"
password: "my password x"
password: "your passphrase x"
password: "enter a thing"
secret="abcdef"
secret=""
secret"x: abc123def
secret_1234=abc123def
x_passing=abc1
keys=abc123def
keyed=abc123def`;

const lines = (list: string): string[] =>
  list
    .trim()
    .split('\n')
    .map((line) => line.replaceAll('\\t', '\t'));

it.each(lines(HIDDEN))('hides the value in %s', (line) => {
  const [before = '', , after = ''] = line.split('|');
  const expected = line.split('|').map((part, index) => (index % 2 === 0 ? part : '[REDACTED]'));
  expect(hideAssignments(line.replaceAll('|', ''))).toBe(expected.join(''));
  const surrounded = `\n${before}${line.split('|')[1]}\n${after}`;
  expect(hideAssignments(surrounded)).toBe(`\n${before}[REDACTED]\n${after}`);
});

it.each(lines(KEPT))('keeps %s', (line) => {
  expect(hideAssignments(line)).toBe(line);
});

it('hides a whole value of any length, and reads only the end of a long name', () => {
  const long = `a1${'b'.repeat(4000)}`;
  expect(hideAssignments(`password="${long}" x`)).toBe('password="[REDACTED]" x');
  expect(hideAssignments(`password=${long} x`)).toBe('password=[REDACTED] x');
  expect(hideAssignments(`${'X'.repeat(300)}_PASSWORD=swordfish`)).toContain('[REDACTED]');
});
