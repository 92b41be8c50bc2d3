import { writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { systemClock } from '../../../src/kernel/clock.js';
import { createAudioFiles } from '../../../src/voice/audio.js';
import { receiveAudio } from '../../../src/voice/begin.js';
import { silentWav } from '../../harness/speech.js';
import { openForSuite } from '../../harness/suite.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it } = lab;

const MP4 = Buffer.from('\0\0\0\x18ftypM4A \0\0\0\0M4A mp42isom', 'latin1');

describe('errors of voice transcribe', () => {
  const world = openForSuite(lab, openWorld);
  const refusal = async (content: Buffer, ffmpeg: string | null): Promise<string> => {
    const audio = createAudioFiles(world.app.home);
    const deps = { clock: systemClock, audio, ffmpeg: async () => ffmpeg };
    const file = { filename: 'song', content: Readable.from([content]), isCut: () => false };
    return receiveAudio(deps, file).then(
      () => 'received',
      (error: Error) => error.message,
    );
  };

  it('list the models and engines for an unknown --model', async () => {
    const silent = await world.file('silent.wav', '');
    await writeFile(silent, silentWav());
    const words = ['voice', 'transcribe', silent, '--model', 'nonesuch'];
    const { code, stderr } = await world.cli(words);
    expect([code, stderr]).to.match(/^1,.*model must be one of .*whisper, pocketsphinx/s);
  });

  it('list the formats that work, with ffmpeg and without', async () => {
    const text = Buffer.from('This is no music at all.\n'.repeat(50));
    const builtIn = 'WAV, FLAC, MP3, and Ogg with Opus, Vorbis or FLAC';
    expect(await refusal(text, '/usr/bin/ffmpeg')).to.startWith(
      `Invalid request: audio is not a supported audio format. Supported: ${builtIn}. Also: MP4, M4A`,
    );
    expect(await refusal(text, null)).to.contain(
      'If ffmpeg is installed on the machine of the daemon, also: MP4, M4A',
    );
    expect(await refusal(MP4, null)).to.endWith(
      `Install ffmpeg there, or convert the file. Supported without ffmpeg: ${builtIn}`,
    );
    expect(await refusal(MP4, '/usr/bin/ffmpeg')).to.equal('received');
  });
});
