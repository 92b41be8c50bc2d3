import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { saveSession } from '../../src/client/session.js';
import type { Stage } from '../agents/stage.js';
import { openConfig } from '../cli/config.js';
import { until } from '../harness/app.js';
import { openTmux, type Tmux, tmuxMissing } from '../harness/tmux.js';
import { readingTime } from '../harness/turns.js';
import { startSample } from './sample.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const BIN = fileURLToPath(new URL('../../../bin/adjutant.js', import.meta.url));
/** In the source folder, where people read them. */
const FRAMES = fileURLToPath(new URL('../../../test/tui/frames/', import.meta.url));
/** `FRAMES=write npm test -- test/tui/frames.test.ts` records them again. */
const isWriting = process.env.FRAMES === 'write';
const missing = tmuxMissing();
const title = missing === null ? 'frames of the desk' : `frames of the desk (skipped: ${missing})`;

/** Keys that lead to each frame, and a text that is shown once it is complete. */
const WALK = [
  { name: 'overview', keys: ['1'], whole: 'spawn_agent|issues +issues' },
  { name: 'hooks', keys: ['2'], whole: 'Latest executions of' },
  { name: 'hook', keys: ['j', 'Enter'], whole: 'skipped' },
  { name: 'hook-settings', keys: [']'], whole: 'Payload URL' },
  { name: 'hook-facts', keys: [']'], whole: 'Triage the issue' },
  { name: 'execution', keys: ['[', '[', 'Enter'], whole: '\\[Timeline\\]' },
  { name: 'agents', keys: ['3'], whole: 'reviewer' },
  { name: 'agent', keys: ['Enter'], whole: 'decide there' },
  { name: 'agent-events', keys: [']'], whole: 'no gap' },
  { name: 'agent-tree', keys: [']'], whole: 'sub-agents? ' },
  { name: 'agent-facts', keys: [']'], whole: '\\[Facts\\]' },
  { name: 'approvals', keys: ['4'], whole: 'The whole call is shown' },
  { name: 'approval-sheet', keys: ['A'], whole: 'exactly as shown' },
  { name: 'inbox', keys: ['Escape', '5'], whole: 'loaded' },
  { name: 'vault', keys: ['6'], whole: 'github-pat' },
  { name: 'models', keys: ['7'], whole: 'digest' },
  { name: 'tunnel', keys: ['8'], whole: 'exposed' },
  { name: 'team', keys: ['9'], whole: 'owner ' },
  { name: 'help', keys: ['?'], whole: 'Help: Team' },
  { name: 'palette', keys: ['Escape', ':', ...'vault'], whole: '^:vault' },
  { name: 'knowledge', keys: ['Escape', 'g', 'k'], whole: 'Grace looks after the' },
  { name: 'knowledge-search', keys: ['/', ...'server', 'Enter'], whole: 'Matched +server' },
  { name: 'knowledge-chunk', keys: ['Enter'], whole: 'the only chunk' },
  { name: 'operations', keys: ['g', 'o'], whole: 'About' },
  { name: 'tasks', keys: ['g', 't', ']', ']', ']'], whole: 'Rotate the' },
  { name: 'task', keys: ['Enter'], whole: 'Part of' },
  { name: 'pipelines', keys: ['g', 'p'], whole: 'publish +\\. pending' },
  { name: 'run', keys: ['Enter'], whole: 'Publish version' },
  { name: 'run-sheet', keys: ['A'], whole: 'exactly as shown' },
  { name: 'capabilities', keys: ['Escape', 'g', 'c', '/', ...'house', 'Enter'], whole: 'GGUF' },
  { name: 'capability', keys: ['Enter'], whole: '^Path' },
  { name: 'mail', keys: ['g', 'm', ']'], whole: 'It is nearly done' },
  { name: 'mail-sheet', keys: ['s'], whole: 'exactly as shown' },
] as const;

const hidden = (text: string): string => text.replace(/[0-9a-z]/g, '#');
/** Values with the same width in every run. */
const SAME_WIDTH = [
  /(?<=\b[a-z]+_)[0-9a-z]{26}\b/g,
  /(?<=github-issues-)[0-9a-z]{1,6}/g,
  /(?<=…|\bagent )[0-9a-z]{6}\b/g,
  /\b[0-9a-f]{8}\b/g,
  /\b[0-9a-f]{64}\b/g,
  /(?<=127\.0\.0\.1:)\d{5}/g,
  /\d{4}-\d\d-\d\d/g,
  // The total depends on the machine.
  /(?<=^\/house +1 of )\d+/gm,
  /\d+(?::\d\d)+(?:\.\d+)?/g,
  /(?<=\+)\d+\.\d+/g,
  // Three within one minute, or two.
  /(?<=\bpeak )\d\b/g,
];
/** A path longer than its line. Its second line counts as empty. */
const WRAPPED_PATH = /^(Path +)\S.*\n {9}\S+$/gm;
/** Facts that differ between machines, to the end of their line. */
const OF_MACHINE = /^(CPU {5}|Memory {2}|Path +|(?=\d+ are there))\S.*$/gm;
/** Ages and latencies. Their width also changes the column gaps of a table. */
const LASTS = /\b\d+(?:\.\d+)? ?(?:ms|s|m)\b/g;
const SPARKLINE = /[▁-█]{20,}/g;
/** Separators between tables: an empty or a drawn line. */
const BETWEEN = /(\n(?: *|─+)\n)/;
const TABLE = /^ +[A-Z]{2,}(?: [A-Z]+)* {2,}[A-Z]{2,}/m;

/** A word that is cut to make room. */
const CUT_WORD = /[^\s…]*… #/g;

const withoutAges = (text: string): string =>
  text.search(LASTS) < 0
    ? text
    : text.replace(LASTS, '#').replace(/ {2,}/g, '  ').replace(CUT_WORD, '… #');

const masked = (frame: string): string =>
  SAME_WIDTH.reduce((text, pattern) => text.replace(pattern, hidden), frame)
    .replace(WRAPPED_PATH, '$1#\n')
    .replace(OF_MACHINE, '$1#')
    .replace(SPARKLINE, (line) => '▁'.repeat(line.length))
    .split(BETWEEN)
    .map((part) => (TABLE.test(part) ? withoutAges(part) : part))
    .join('')
    .split('\n')
    .map((line) => withoutAges(line).trimEnd())
    .join('\n')
    .trimEnd();

describe(title, { skip: missing !== null }, () => {
  let config: Awaited<ReturnType<typeof openConfig>>;
  let stage: Stage;
  let tmux: Tmux;

  before(async () => {
    config = await openConfig();
    stage = await startSample();
    // Reading the hardware takes long on a busy machine.
    await stage.ask('GET', '/api/capabilities/hardware');
    const login = { token: stage.token, username: 'owner', expiresAt: '2126-01-01T00:00:00.000Z' };
    saveSession(stage.url, login);
    const env = { XDG_CONFIG_HOME: config.folder, ADJUTANT_URL: stage.url };
    tmux = await openTmux({ width: 80, height: 24, env });
    await tmux.line(`node ${BIN} tui --theme dark; echo ended $?`);
    await tmux.wait('live');
    if (isWriting) mkdirSync(FRAMES, { recursive: true });
  });
  after(async () => {
    await tmux.close();
    await stage.stop();
    await config.close();
  });

  for (const { name, keys, whole } of WALK) {
    it(`draws ${name} as it stands in frames/${name}.txt`, async () => {
      await tmux.keys(...keys);
      const path = `${FRAMES}${name}.txt`;
      const isWhole = (frame: string): boolean => new RegExp(whole, 'm').test(frame);
      if (isWriting) {
        await until(tmux.frame, isWhole);
        await readingTime(1500);
        writeFileSync(path, `${masked(await tmux.frame())}\n`);
        return;
      }
      const expected = readFileSync(path, 'utf8').trimEnd();
      let frame = '';
      const look = async (): Promise<string> => {
        frame = masked(await tmux.frame());
        return frame;
      };
      await until(look, (seen) => seen === expected, 10_000).catch(() => {});
      expect(frame).to.equal(expected);
    });
  }

  it('stays whole through every resize', async () => {
    await tmux.shows('github-pat', 'Escape', '6');
    const look = async (): Promise<string> => masked(await tmux.frame());
    const before = await look();
    for (const [width, height] of [
      [140, 40],
      [60, 16],
      [140, 40],
      [80, 24],
    ] as const) {
      await tmux.resize(width, height);
      await until(tmux.frame, (frame) => {
        const lines = frame.split('\n').slice(0, height);
        const last = lines.findLastIndex((line) => line.trim() !== '');
        return lines[0]?.trimEnd().length === width && last === height - 1;
      });
    }
    await until(look, (frame) => frame === before);
  });
});
