import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { commonOptions } from '../../cli/program.js';
import { leaves } from '../cli/leaves.js';
import { ownPart, parse, wordsOf } from '../cli/parse.js';
import { codeBlocks, codeSpans, documents } from '../harness/documents.js';
import { projectRoot } from '../harness/sources.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** `npm run try:resource` follows the blocks of the last three. */
const LANGUAGES = ['', 'sh', 'http', 'json', 'js', 'dockerfile', 'ts', 'sql', 'diff', 'yaml'];
/** Of an example that stands where a file, a key or a daemon would be. */
const UNREADABLE = /cannot be read/;

/** A line of shell as it is run: joined where it goes on, without its comment. */
const shellLines = (code: string): string[] =>
  code
    .replace(/\s*\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => line.replace(/(^|\s+)# .*$/, ''));

const blocks = documents().flatMap(codeBlocks);
const shell = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap(({ path, code }) => shellLines(code).map((line) => ({ path, line })));
const spans = documents().flatMap((document) =>
  codeSpans(document).map((span) => ({ path: document.path, span })),
);

/** What is wrong with a command line; undefined where nothing is. */
const faultOf = async (line: string): Promise<string | undefined> => {
  const read = await parse(wordsOf(line));
  const isRead = read.error === null || UNREADABLE.test(String(read.error));
  return isRead ? undefined : `${line}: ${read.error}`;
};

/** In a sentence a command stands without the arguments that do not matter there. */
const isShortened = (fault: string): boolean => /missing required argument/.test(fault);

describe('commands in the documents', () => {
  it('stand in blocks of a known language', () => {
    expect(blocks.filter(({ language }) => !LANGUAGES.includes(language))).to.equal([]);
    const unmarked = blocks.filter(({ language }) => language === '');
    expect(unmarked.filter(({ code }) => /^adjutant /m.test(code))).to.equal([]);
  });

  it('are commands of the program, with its flags and arguments', async () => {
    const commands = shell.flatMap(({ path, line }) => {
      const own = ownPart(line.replace('node bin/adjutant.js', 'adjutant'), 'adjutant ');
      return own && /(^|[\s(])adjutant /.test(own) ? [{ path, own }] : [];
    });
    expect(commands.length).to.be.above(50);
    const faults = await Promise.all(
      commands.map(async ({ path, own }) => {
        const fault = await faultOf(own);
        return fault === undefined ? [] : [`${path}: ${fault}`];
      }),
    );
    expect(faults.flat()).to.equal([]);
  });

  it('are commands of the program where a sentence names them', async () => {
    const named = spans.filter(({ span }) => /^adjutant [a-z]/.test(span));
    const whole = named.filter(({ span }) => !span.includes('…'));
    expect(whole.length).to.be.above(60);
    const faults = await Promise.all(
      whole.map(async ({ path, span }) => {
        const fault = await faultOf(span);
        return fault === undefined || isShortened(fault) ? [] : [`${path}: ${fault}`];
      }),
    );
    expect(faults.flat()).to.equal([]);
  });

  it('have flags that some command takes', async () => {
    const all = (await leaves()).flatMap(({ command }) => [
      ...Object.keys(command.flags ?? {}).map(dashed),
      ...(command.fields?.() ?? []).flatMap(({ name, longName }) => [name, longName]),
    ]);
    const known = [...all.map((name) => `--${name}`), ...commonOptions().map(({ long }) => long)];
    const flags = spans
      .filter(({ path }) => path !== 'docs/contributing.md')
      .flatMap(({ path, span }) => {
        const flag = /^--[\w-]+/.exec(span)?.[0];
        return flag === undefined ? [] : [{ path, flag }];
      });
    expect(flags.length).to.be.above(15);
    expect(flags.filter(({ flag }) => !known.includes(flag))).to.equal([]);
  });

  it('are scripts of the package where they are npm’s', () => {
    const { scripts } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8'));
    const lines = [...shell.map(({ line }) => line), ...spans.map(({ span }) => span)];
    const names = lines.flatMap((line) =>
      [...line.matchAll(/\bnpm (?:run )?(start|test|(?<=run )[\w:]+)/g)].map(([, name]) => name),
    );
    expect(names).to.include(['start', 'test', 'bench', 'lint']);
    expect(names.filter((name) => name === undefined || !(name in scripts))).to.equal([]);
  });
});

const dashed = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
