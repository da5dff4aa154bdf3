const CLIMBS = [
  '..',
  '../',
  '../x',
  '../../x',
  '../../../../../../etc/passwd',
  'a/..',
  'a/../x',
  'a/../../x',
  'a/b/../../../x',
  './x',
  '.',
  './',
  'a/./x',
]
const ABSOLUTE = ['/', '//', '/etc/passwd', '//etc/passwd', '/proc/self/environ', '/data/x', '/dev/stdin', '///x']
const EMPTY_PARTS = ['a//b', 'a/', 'a//', 'a/b/', '//a', 'a///b']
const WINDOWS = ['..\\x', 'a\\..\\x', 'C:\\x', '\\\\server\\share', 'a\\b', '\\', 'a/..\\..\\x', '\\x']
const CONTROL = [
  'x\u0000',
  '\u0000',
  'x\u0000.txt',
  '../x\u0000',
  'a\nb',
  'a\rb',
  'a\tb',
  '\u001b[31mx',
  'a\u007fb',
  'a\u0085b',
  'x\r\nHost: y',
]
const UNICODE = ['a\u0308', 'e\u0301/x', '\u1100\u1161\u11a8', 'A\u030a', 'o\u0302\u0323', '\ud800', 'a\udfffb', 'x/\ud83d']
const OURS = ['.berth', '.berth/x', '.berth/batches/x', '.berth/batches/b/committing', '.berth/../x', '.berth//x']
const LONG = [
  'x'.repeat(256),
  `a/${'x'.repeat(256)}`,
  'ä'.repeat(128),
  `${'a/'.repeat(512)}b`,
  'x/'.repeat(600),
  `${'x'.repeat(255)}/${'y'.repeat(255)}/`.repeat(3),
]
const MIXED = [
  ...['..%2f..%2fx/..', '....//x', '..;/x/..', '.../../x', '..%c0%af/../x', '%2e%2e/../x', '..%00/../x', '.. /../x', '../.../x'],
  ...['a/../../../b/c', 'a/b/c/../../../../d', '../a/../b', 'a/..//b', './../x', '././x', 'x/.', 'x/./', '/..', '/../x', '/./x', '//../x'],
  ...['data/../meta/x', '../data/x', '../meta/x', '../uploads/x', '../locks/x', '../batches/x', '../../drv_0/data/x', 'locks/../../x'],
  ...[
    'a\u200e/../x',
    '../\u202etxt',
    '..\u0000/x',
    'a/\u0001/b',
    '\ufeff/../x',
    '~/../x',
    '$HOME/../x',
    'CON/../x',
    '../.ssh/id_rsa',
    '../../.env',
  ],
  ...['file:///etc/passwd', 's3://other//x', '/\\/x', 'a\\/../b', '..\u2028/../x'],
]

/** Names that no object may have, decoded: what leads elsewhere, means two things, or is no plain relative path. */
export const HOSTILE_PATHS: readonly string[] = [
  ...new Set([...CLIMBS, ...ABSOLUTE, ...EMPTY_PARTS, ...WINDOWS, ...CONTROL, ...UNICODE, ...OURS, ...LONG, ...MIXED]),
]
