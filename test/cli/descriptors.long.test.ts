import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { ended } from '../harness/clone.js';
import { listen } from '../kernel/listen.js';
import { type Machine, newMachine } from './daemon/machine.js';
import { type Line, MARK, SEPARATOR } from './driver.js';
import { type Faults, onTerminal } from './faults.js';
import { recipes } from './recipes/all.js';
import type { Recipe } from './recipes/recipe.js';
import { openScene, type Scene } from './recipes/scene.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const DRIVER = fileURLToPath(new URL('./driver.js', import.meta.url));
const DATABASE = /"[^"]*\.db(-wal|-shm|-journal)?"/;
/** These read or write a copy, and say so. */
const OPENERS = ['backup restore', 'backup verify'];
const OPENINGS = ['-qq', '-e', 'trace=open,openat', '-s', '400'];

/** strace and script may be missing, or not allowed to do their work. */
const whyNot = (): string => {
  try {
    execFileSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' });
    execFileSync('script', ['-qec', 'true', '/dev/null'], { stdio: 'ignore' });
    return '';
  } catch {
    return ' (strace and script cannot both be used here)';
  }
};

interface Shown {
  path: string;
  recipe: Recipe;
  /** What it ended with. */
  code: number;
  screen: string;
}

const missing = whyNot();

describe(`every command on a real terminal, traced${missing}`, { skip: missing !== '' }, () => {
  let shown: Shown[];
  let trace: string;
  before(async () => {
    const scene = await openScene();
    try {
      [shown, trace] = await onTerminalOf(scene);
    } finally {
      await scene.stop();
    }
  });

  it('opens no database but to verify and restore a backup', () => {
    const opened = new Set<string>();
    const begun: string[] = [];
    for (const line of trace.split('\n')) {
      const [, path] = line.split(`"${MARK}`);
      if (path !== undefined) begun.push(path.slice(0, path.indexOf('"')));
      else if (DATABASE.test(line)) opened.add(begun.at(-1) ?? 'the driver');
    }
    expect(begun.sort()).to.equal(Object.keys(recipes).sort());
    expect([...opened].sort()).to.equal(OPENERS);
  });

  it('ends as it does elsewhere, and fits', () => {
    const faults = shown.flatMap(({ path, recipe, code, screen }): Faults => {
      const { exit = 0, isText } = recipe;
      const lines = screen.replaceAll('\r\n', '\n');
      const found = isText ? [] : onTerminal({ code, stdout: lines, stderr: '' });
      return [...(code === exit ? [] : [`ends with ${code}: ${lines}`]), ...found].map(
        (fault) => `${path}: ${fault}`,
      );
    });
    expect(faults).to.equal([]);
    expect(shown.find(({ path }) => path === 'hooks list')?.screen).to.match(/^NAME +STATE/);
  });
});

describe(`commands about a daemon of their own, traced${missing}`, { skip: missing !== '' }, () => {
  let machine: Machine;
  before(async () => {
    machine = await newMachine();
    await writeFile(join(machine.folder, 'password'), 'correct horse\n');
  });
  after(() => machine.clear());

  /** Whether it opened a database itself, on any of its threads: what it starts is not traced. */
  const opens = async (words: string[]): Promise<[string, boolean]> => {
    const trace = join(machine.folder, 'trace');
    const threads = ['-f', '-b', 'execve'];
    const under = ['strace', ...threads, ...OPENINGS, '-o', trace];
    await ended(machine.start(words, {}, under));
    return [words.join(' '), DATABASE.test(await readFile(trace, 'latin1'))];
  };

  it('leave the database to the daemon that they start, ask and stop', async () => {
    const password = ['--password-file', 'password'];
    const lines = [
      ['quickstart', '--yes', '--username', 'ada', ...password],
      ...[['up'], ['status'], ['logs'], ['doctor'], ['restart'], ['whoami'], ['down']],
      ['demo'],
    ];
    const found: [string, boolean][] = [];
    for (const words of lines) found.push(await opens(words));
    expect(found).to.equal(lines.map((words) => [words.join(' '), false]));
    expect(await opens(['recover', 'ada', ...password])).to.equal([
      'recover ada --password-file password',
      true,
    ]);
  });
});

/** Every recipe at one terminal of 80 columns; the screens and the trace. */
const onTerminalOf = async (scene: Scene): Promise<[Shown[], string]> => {
  const all = Object.entries(recipes);
  const codes: number[] = [];
  const giver = await giveOut(scene, all, codes);
  const trace = join(scene.world.app.home, 'trace');
  const words = ['strace', '-f', ...OPENINGS, '-o', trace, process.execPath, DRIVER, giver.origin];
  const shell = `stty cols 80 rows 24; ${words.join(' ')}`;
  const child = spawn('script', ['-qec', shell, '/dev/null'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [screen] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  await giver.close();
  const screens = screen.split(SEPARATOR);
  const shown = all.map(([path, recipe], at) => ({
    ...{ path, recipe, code: codes[at] ?? NaN, screen: screens[at] ?? '' },
  }));
  return [shown, await readFile(trace, 'latin1')];
};

/** Gives the driver a line at a time: what it names is made when it is about to run. */
const giveOut = (scene: Scene, all: [string, Recipe][], codes: number[]) => {
  let given = 0;
  const answer: RequestListener = async (request, response) => {
    if (given > 0) codes.push(Number(request.url?.slice(1)));
    const [path, recipe] = all[given++] ?? [];
    if (path === undefined || recipe === undefined) return response.writeHead(204).end();
    const self = recipe.isOwn ? await scene.user() : scene.ada;
    scene.logIn(self);
    await recipe.needs?.(scene, self);
    const own = (await recipe.words?.(scene, self)) ?? [];
    const line: Line = {
      path,
      words: [...path.split(' '), ...own, '--server', scene.world.app.url],
      stdin: recipe.stdin ?? '',
      until: recipe.until?.source ?? null,
    };
    response.end(JSON.stringify(line));
  };
  return listen((request, response) => void answer(request, response));
};
