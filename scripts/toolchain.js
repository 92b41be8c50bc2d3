import { spawnSync } from 'node:child_process';

/** What compiles better-sqlite3, each with the commands that any one of which will do. */
const NEEDED = {
  python3: ['python3'],
  make: ['make', 'gmake'],
  'a C++ compiler': ['c++', 'g++', 'clang++'],
};
const INSTALLED_BY = [
  'Debian, Ubuntu: sudo apt-get install -y python3 make g++',
  'Fedora, RHEL:   sudo dnf install -y python3 make gcc-c++',
  'Alpine:         apk add python3 make g++',
  'Arch:           sudo pacman -S --needed python make gcc',
  'macOS:          xcode-select --install',
];

/** What is missing here to compile better-sqlite3; empty where all is there. */
export const missingTools = () =>
  Object.entries(NEEDED)
    .filter(([, commands]) => !commands.some(answers))
    .map(([name]) => name);

const answers = (command) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

/** Says what a compilation of better-sqlite3 takes, and how to get it on this machine. */
export const toolchainHelp = (missing) =>
  [
    `better-sqlite3 is compiled with python3, make and a C++ compiler. Missing here: ${missing.join(', ')}.`,
    ...INSTALLED_BY.map((line) => `  ${line}`),
    'Then run this again.',
  ].join('\n');
