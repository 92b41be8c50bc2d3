import { mkdtemp, rm } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { type Cancel, systemClock } from '../../../kernel/clock.js';
import { NamedError } from '../../../kernel/failure.js';
import { makePrivateFolder } from '../../../kernel/private.js';
import type { ConfinedProcess, Confinement } from '../../confine/confinement.js';
import { startConfinedWorker } from '../../confine/workerprogram.js';
import { stripFolders } from './folders.js';
import {
  type LlamaEnd,
  type LlamaInput,
  type LlamaLine,
  type LlamaPart,
  type LlamaRequest,
  readLlamaLine,
} from './protocol.js';

/** The message states how it ended. */
export class LlamaProcessEnded extends NamedError {
  constructor(
    message: string,
    /** Whether the process violated the protocol. */
    readonly isGarbled: boolean,
    /** Whether the daemon ended the process. */
    readonly isIntended: boolean,
  ) {
    super(message);
  }
}

export interface LlamaProcess {
  /**
   * On abort, the process is killed if it does not end its answer soon. Throws LlamaProcessEnded.
   */
  ask(request: LlamaRequest, by: AskOptions): Promise<LlamaEnd>;
  ended(): Promise<string>;
  /** `why` replaces the signal as the reason. */
  end(why?: string): Promise<void>;
}

interface AskOptions {
  signal: AbortSignal;
  /** Must not throw. */
  onPart?(part: LlamaPart): void;
}

export interface ProcessOptions {
  /** Parent of the only folder that the process may write to. */
  scratch: string;
  confinement: Confinement;
  /** Readable in addition to the code. */
  readable: string[];
  /** Maximum memory of the process. */
  memoryBytes: number;
}

const SCRIPT = new URL('./main.js', import.meta.url);
/** Time to end an aborted answer. */
const ABORT_MS = 5000;
/** A vector of 8,192 numbers takes a fiftieth of it. */
const MAX_LINE_LENGTH = 8 * 1024 * 1024;

/** Loads nothing yet. Throws ConfinementFailed. */
export const startLlamaProcess = async (options: ProcessOptions): Promise<LlamaProcess> => {
  makePrivateFolder(options.scratch);
  const folder = await mkdtemp(join(options.scratch, 'llama-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const { readable, memoryBytes } = options;
  const program = { script: SCRIPT, packages: [], readable, memoryBytes, speaksApart: true };
  const held = await startConfinedWorker(options.confinement, program, folder).catch(
    async (error) => {
      await remove();
      throw error;
    },
  );
  const named = (text: string): string => stripFolders(text, [folder, ...readable]);
  return createConversation(held, { remove, named });
};

interface ProcessEnd {
  remove(): Promise<void>;
  /** Reduces paths to file names. */
  named(text: string): string;
}

interface Question {
  id: number;
  onPart(part: LlamaPart): void;
  resolve(end: LlamaEnd): void;
  reject(error: LlamaProcessEnded): void;
}

const createConversation = (held: ConfinedProcess, { remove, named }: ProcessEnd): LlamaProcess => {
  let question: Question | null = null;
  let last = 0;
  let isGarbled = false;
  let intended: string | undefined;

  const write = (input: LlamaInput): void => void held.stdin.write(`${JSON.stringify(input)}\n`);

  const onLine = (line: LlamaLine | null): void => {
    if (line === null) {
      isGarbled = true;
      held.kill();
      return;
    }
    if (line.id !== question?.id) return;
    if (line.is === 'text' || line.is === 'vector') question.onPart(line);
    else question.resolve(line.is === 'failed' ? { ...line, message: named(line.message) } : line);
  };

  const ended = held.ended.then(async (how) => {
    await remove();
    return intended ?? named(howEnded(how));
  });
  held.stdout.on(
    'data',
    splitLines((line) => onLine(line === null ? null : readLlamaLine(line))),
  );
  // A killed process may leave a broken pipe.
  held.stdout.on('error', () => undefined);

  const ask: LlamaProcess['ask'] = async (request, { signal, onPart = () => undefined }) => {
    last += 1;
    const id = last;
    let cancelKill: Cancel = () => undefined;
    const abort = (): void => {
      write({ id, do: 'abort' });
      cancelKill = systemClock.after(ABORT_MS, held.kill);
    };
    signal.addEventListener('abort', abort);
    try {
      return await new Promise<LlamaEnd>((resolve, reject) => {
        question = { id, onPart, resolve, reject };
        void ended.then((how) =>
          reject(new LlamaProcessEnded(how, isGarbled, intended !== undefined)),
        );
        write({ id, ...request });
        if (signal.aborted) abort();
      });
    } finally {
      question = null;
      cancelKill();
      signal.removeEventListener('abort', abort);
    }
  };

  return {
    ask,
    ended: () => ended,
    end: async (why) => {
      intended ??= why;
      held.kill();
      await ended;
    },
  };
};

/** Passes null for a line that is too long. */
const splitLines = (take: (line: string | null) => void) => {
  const decoder = new TextDecoder();
  let rest = '';
  return (chunk: Buffer): void => {
    const [first = '', ...more] = decoder.decode(chunk, { stream: true }).split('\n');
    rest += first;
    for (const next of more) {
      take(rest);
      rest = next;
    }
    if (rest.length > MAX_LINE_LENGTH) take(null);
  };
};

/** A shell or a confinement reports a signal as an exit code. */
const howEnded = (how: string): string => {
  const code = Number(/^it ended with code (\d+)/.exec(how)?.[1]);
  const [signal] = Object.entries(constants.signals).find(([, each]) => code === 128 + each) ?? [];
  return signal ? how.replace(/^it ended with code \d+/, `it was ended by ${signal}`) : how;
};
