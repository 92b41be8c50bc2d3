import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { placeSpeechEngine } from '../../harness/speech.js';
import { speak, withSpeech } from '../../voice/stage.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const skip = 'skip' in withSpeech;

const said = skip ? ' (skipped: it needs flite)' : '';

describe(`a conversation in which one speaks${said}`, () => {
  let world: World;
  let folder: string;
  const path = process.env.PATH;
  before(async () => {
    if (skip) return;
    world = await openWorld({ config: { voicePath: [placeSpeechEngine()] } });
    folder = await mkdtemp(join(tmpdir(), 'recorder-'));
    await writeFile(join(folder, 'spoken.wav'), await speak('hello world'));
  });
  after(async () => {
    process.env.PATH = path;
    if (folder) await rm(folder, { recursive: true });
    await world?.stop();
  });

  /** Puts a recorder in the place of all; its last word is the file. */
  const place = async (lines: string[]): Promise<void> => {
    const file = join(folder, 'arecord');
    await rm(join(folder, 'at-work'), { force: true });
    await writeFile(file, ['#!/bin/sh', ...lines].join('\n'));
    await chmod(file, 0o755);
    process.env.PATH = `${folder}:/usr/bin:/bin`;
  };
  /** Answers the questions; the one that ends a recording once the recorder is at work. */
  const converse = (...answers: string[]) =>
    world.cli(['chat', '--voice', '--model', 'digest'], {
      ...{ terminal: 100, answers },
      at: { text: /^Speak/, act: waitForRecorder },
    });
  const waitForRecorder = (): void => {
    for (let n = 0; n < 200 && !existsSync(join(folder, 'at-work')); n++) {
      execFileSync('sleep', ['0.05']);
    }
  };

  it('sends the words that were heard, and what is typed', { skip }, async () => {
    await place([
      'for file; do :; done',
      `trap 'cp "${folder}/spoken.wav" "$file"; exit 0' INT`,
      `touch "${folder}/at-work"`,
      'while :; do sleep 0.05; done',
    ]);
    const { code, stderr } = await converse('', '', 'a typed question', '/quit');
    expect(code, stderr).to.equal(0);
    expect(stderr).to.include('You: hello world\n');
    const { sessions } = await world.client.sessions.list({ query: {} });
    const id = sessions[0]?.id ?? '';
    const { messages } = await world.client.sessions.messages({ id, query: {} });
    const users = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    expect(users).to.equal(['hello world', 'a typed question']);
  });

  it('says why nothing was recorded', { skip }, async () => {
    await place([
      'echo "arecord: audio open error: No such file or directory" >&2',
      `touch "${folder}/at-work"`,
      'exit 1',
    ]);
    const { code, stderr } = await converse('', '');
    expect(code).to.equal(1);
    expect(stderr).to.include('arecord recorded nothing: arecord: audio open error');
  });

  it('names the recorders where there is none, and takes no message', { skip }, async () => {
    process.env.PATH = join(folder, 'nothing');
    const { code, stderr } = await converse('');
    expect(code).to.equal(1);
    expect(stderr).to.include(
      'No recording program was found on this machine. Install one of: arecord, parecord, rec, ff',
    );
    process.env.PATH = path;
    expect((await world.cli(['chat', '--voice', 'Hello'])).code).to.equal(2);
  });
});
