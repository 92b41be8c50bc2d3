import { PassThrough } from 'node:stream';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Schema } from 'joi';
import { Context, formatExamples } from '../../cli/command.js';
import { chooseCommand, getCommandPath, performCommand, readCommon } from '../../cli/program.js';
import { until } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';
import { calledBy } from './endpoints.js';
import {
  type Faults,
  idsOf,
  inPipe,
  inTable,
  jsonIn,
  linesOf,
  ofRows,
  onTerminal,
  when,
} from './faults.js';
import { adjutant, type Ended } from './harness.js';
import { type Leaf, leaves } from './leaves.js';
import { recipes } from './recipes/all.js';
import { elsewhere } from './recipes/daemon.js';
import type { Recipe } from './recipes/recipe.js';
import { openScene } from './recipes/scene.js';

// Awaited first: a script that waits after Lab.script() is run by lab before it has tests.
const all = await leaves();

export const lab = Lab.script();
const { describe, it } = lab;
const WIDTH = 80;

/** What the API answers where a command asks it; undefined for an endpoint that answers nothing. */
const repliesOf = (path: string): (Schema | undefined)[] =>
  all
    .filter((leaf) => leaf.path === path)
    .flatMap(calledBy)
    .map(({ endpoint }) => endpoint.reply);

describe('every command', () => {
  it('has a way to be tried, or says where it is', () => {
    const known = [...Object.keys(recipes), ...Object.keys(elsewhere)].sort();
    expect(all.map(({ path }) => path).sort()).to.equal(known);
  });

  for (const { path, command } of all) {
    it(`is helped with: ${path}`, async () => {
      expect(await helpFaults({ path, command })).to.equal([]);
    });
  }
});

describe('against a daemon', () => {
  const scene = openForSuite(lab, openScene);

  /** Runs it once more, on a terminal that wide or in a pipe. */
  const tried = async (path: string, flags: string[] = [], terminal?: number): Promise<Ended> => {
    const recipe = recipes[path] ?? {};
    const self = recipe.isOwn ? await scene.user() : scene.ada;
    scene.logIn(self);
    await recipe.needs?.(scene, self);
    const words = [...path.split(' '), ...((await recipe.words?.(scene, self)) ?? []), ...flags];
    const { stdin, until, answers } = recipe;
    const more = terminal === undefined ? {} : { terminal, answers };
    return scene.world.cli(words, { stdin, until, ...more });
  };

  for (const { path, command } of all.filter(({ path }) => recipes[path])) {
    const recipe = recipes[path] ?? {};
    const isList = command.flags?.watch !== undefined && command.fields !== undefined;

    it(`answers in a pipe and on a terminal: ${path}`, async () => {
      const piped = await tried(path);
      const json = await tried(path, ['--json']);
      const shown = await tried(path, [], WIDTH);
      const faults = [
        ...[piped, json, shown].flatMap((ended) => exitFaults(ended, recipe)),
        ...[piped, json].flatMap(inPipe),
        ...(await fieldsFaults(path, command.examples)),
        ...jsonFaults(path, recipe, json),
        ...(recipe.isText ? [] : onTerminal(shown)),
        ...(isList ? [...inTable(shown), ...(await listFaults(path, recipe))] : []),
      ];
      expect(faults).to.equal([]);
    });

    if (recipe.isOpen) continue;
    it(`asks for a login: ${path}`, async () => {
      const self = recipe.isOwn ? await scene.user() : scene.ada;
      const words = (await recipe.words?.(scene, self)) ?? [];
      const url = scene.world.app.url.replace('127.0.0.1', 'localhost');
      const { stdin } = recipe;
      expect(await adjutant([...path.split(' '), ...words, '--server', url], { stdin })).to.equal({
        code: 4,
        stdout: '',
        stderr: 'Not logged in. Run: adjutant login\nFirst use? Run: adjutant quickstart\n',
      });
    });
  }

  /** The fields that its examples speak of. */
  const fieldsFaults = async (path: string, examples: string[]): Promise<Faults> => {
    const fields = examples.flatMap((example) => /--fields (\S+)/.exec(example)?.[1] ?? []);
    const ended = await Promise.all(fields.map((each) => tried(path, ['--fields', each])));
    return ended.flatMap(({ code, stderr }) => when(code === 2, stderr));
  };

  /** The rows of a pipe beside the reply of the same moment: one that is the same before and after. */
  const listFaults = async (path: string, recipe: Recipe): Promise<Faults> => {
    const words = [...path.split(' '), ...((await recipe.words?.(scene, scene.ada)) ?? [])];
    const rowsNow = async (): Promise<unknown[]> => {
      const reply = jsonIn((await scene.world.cli([...words, '--json'])).stdout);
      const rows: unknown = Object.values(reply ?? {}).find(Array.isArray);
      return Array.isArray(rows) ? rows : [];
    };
    const read = async () => ({
      before: await rowsNow(),
      piped: await scene.world.cli(words),
      after: await rowsNow(),
    });
    const { piped, after } = await until(
      read,
      (each) => JSON.stringify(idsOf(each.before)) === JSON.stringify(idsOf(each.after)),
    );
    return ofRows(piped.stdout, after);
  };
});

const exitFaults = ({ code, stderr }: Ended, { exit = 0 }: Recipe): Faults =>
  when(code !== exit, `ends with ${code}: ${stderr}`);

const jsonFaults = (path: string, recipe: Recipe, { code, stdout, stderr }: Ended): Faults => {
  const values = linesOf(stdout).map((line) => jsonIn(line));
  if (recipe.json === 'lines') return when(values.includes(undefined), `no JSON: ${stdout}`);
  if (recipe.json === 'nothing') return [];
  const replies = repliesOf(recipe.reply ?? path);
  if (recipe.json === undefined && replies.every((reply) => reply === undefined)) {
    return when(stdout !== '' || replies.length === 0, `prints ${stdout} for no reply`);
  }
  const value = jsonIn(stdout === '' && code !== 0 ? stderr : stdout);
  if (value === undefined) return [`not one value of JSON: ${stdout}${stderr}`];
  if (recipe.json === 'its own' || (stdout === '' && code !== 0)) return [];
  const reasons = replies.map((reply) => reply?.validate(value).error?.message);
  return when(!reasons.includes(undefined), `no reply of the API: ${reasons.join(', ')}`);
};

/** Each example as it would be read, and nothing done. */
const exampleFaults = async ({ path, command }: Leaf): Promise<Faults> => {
  const faults: Faults = when(command.examples.length < 3, 'fewer than three examples');
  for (const example of formatExamples(path, command)) {
    const own = example.split(/ [|>&<]+ |\)/).find((part) => part.includes(path));
    if (own === undefined) faults.push(`an example of something else: ${example}`);
    else {
      // xargs gives the last word.
      const words = [...wordsOf(own), ...(own.includes('xargs') ? ['4ew6rt'] : [])];
      faults.push(...(await readFaults({ path, command }, words)));
    }
  }
  return faults;
};

const readFaults = async ({ path, command }: Leaf, words: string[]): Promise<Faults> => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const context = new Context({ stdin, stdout, stderr }, {}, { command: path, flagOf: String });
  const chosen = await chooseCommand(readCommon(words).operands);
  if (getCommandPath(chosen) !== path)
    return [`an example of ${getCommandPath(chosen)}: ${words.join(' ')}`];
  try {
    const read = { ...command, run: async () => {} };
    await performCommand({ ...chosen, command: read }, words, context);
    return [];
  } catch (error) {
    if (/Cannot read/.test(String(error))) return [];
    return [`${words.join(' ')}: ${error}`];
  }
};

/** As a shell takes the line apart; what stands before `adjutant` is another program's. */
const wordsOf = (line: string): string[] => {
  const own = line.replace(/^.*(?<![\w/-])adjutant /, '');
  return (own.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).map((word) =>
    word.replace(/^(['"])(.*)\1$/s, '$2'),
  );
};

const helpFaults = async ({ path, command }: Leaf): Promise<Faults> => {
  const words = path.split(' ');
  const [help, mistyped] = [
    await adjutant([...words, '--help'], { terminal: WIDTH }),
    await adjutant([...words, '--jsonn']),
  ];
  const [sentence] = help.stdout.split('\n\n');
  return [
    ...(await exampleFaults({ path, command })),
    ...when(help.code !== 0 || help.stderr !== '', `no help: ${help.stderr}`),
    ...when(sentence?.replaceAll('\n', ' ') !== `${command.summary}.`, 'no sentence first'),
    ...when(!help.stdout.includes(`\n\nUsage: adjutant ${path}`), 'no usage'),
    ...linesOf(help.stdout)
      .filter((line) => line.length > WIDTH)
      .map((line) => `too wide: ${line}`),
    ...when(
      mistyped.code !== 2 || !mistyped.stderr.includes('(Did you mean --json?)'),
      `an unknown flag: ${mistyped.stderr}`,
    ),
  ];
};
