import { writeFile } from 'node:fs/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { silentWav } from '../../harness/speech.js';
import { openForSuite } from '../../harness/suite.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('adjutant voice', () => {
  const world = openForSuite(lab, openWorld);

  it('goes on after a file that failed, and ends with 1', async () => {
    const text = await world.file('song.mp3', 'This is no audio.');
    const silent = await world.file('silent.wav', '');
    await writeFile(silent, silentWav());
    const { code, stdout, stderr } = await world.cli([
      'voice',
      'transcribe',
      text,
      silent,
      '--json',
    ]);
    expect(code).to.equal(1);
    expect(stderr).to.contain('song.mp3: Invalid request: audio is not a supported audio format');
    const { transcriptions } = JSON.parse(stdout);
    expect(transcriptions.map(({ reason }: { reason: string }) => reason)).to.equal(['silence']);
    const alone = await world.cli(['voice', 'transcribe', silent]);
    expect([alone.code, alone.stderr]).to.equal([0, 'The recording is silent.\n']);
    const misused = await world.cli(['voice', 'transcribe', text, silent, '--srt']);
    expect(misused.code).to.equal(2);
    const both = await world.cli(['voice', 'transcribe', silent, silent]);
    expect([both.code, both.stdout]).to.equal([0, `==> ${silent} <==\n==> ${silent} <==\n`]);
  });

  it('writes no two texts into one file', async () => {
    const talk = await world.file('talk.wav', '');
    await writeFile(talk, silentWav());
    const other = talk.replace(/wav$/, 'flac');
    const refused = await world.cli(['voice', 'transcribe', talk, other, '--beside']);
    expect([refused.code, refused.stderr]).to.equal([
      2,
      `${talk} and ${other} would both be written to ${talk.replace(/wav$/, 'txt')}. Rename one of the files.\n`,
    ]);
    const { transcriptions } = JSON.parse((await world.cli(['voice', 'list', '--json'])).stdout);
    expect(transcriptions.map(({ filename }: { filename: string }) => filename)).to.not.include(
      'talk.wav',
    );
  });
});
