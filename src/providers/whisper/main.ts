import { writeFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { cwd, exit, stdin } from 'node:process';
import { text } from 'node:stream/consumers';
import { errorReason } from '../../kernel/failure.js';
import type { WhisperInput, WhisperLine, WhisperSegment } from './protocol.js';

interface WhisperEngine {
  initWhisper(options: { filePath: string; useGpu: boolean }): Promise<WhisperContext>;
}

interface WhisperContext {
  transcribeFile(
    path: string,
    options: {
      language: string;
      maxThreads: number;
      prompt?: string;
      onProgress(percent: number): void;
    },
  ): { promise: Promise<{ language?: string; segments: WhisperSegment[] }> };
}

/** File descriptor of the output: the engine prints remarks to stdout. */
const LINES = 3;
const FILE = 'piece.wav';

const tell = (line: WhisperLine): void => void writeSync(LINES, `${JSON.stringify(line)}\n`);

/** Separate process per piece. */
const transcribe = async (input: WhisperInput): Promise<WhisperLine> => {
  const path = join(cwd(), FILE);
  writeFileSync(path, Buffer.from(input.wav, 'base64'), { mode: 0o600 });
  const require = createRequire(join(input.engine, 'package.json'));
  const { initWhisper }: WhisperEngine = require('@fugood/whisper.node');
  const context = await initWhisper({ filePath: input.model, useGpu: false });
  tell({ progress: 0 });
  const { promise } = context.transcribeFile(path, {
    language: input.language ?? 'auto',
    maxThreads: input.threads,
    ...(input.prompt !== null && { prompt: input.prompt }),
    onProgress: (progress) => tell({ progress }),
  });
  const { segments, language } = await promise;
  return { segments, language: language ?? null };
};

const input: WhisperInput = JSON.parse(await text(stdin));
try {
  tell(await transcribe(input));
} catch (error) {
  tell({ fault: errorReason(error) });
}
exit(0);
