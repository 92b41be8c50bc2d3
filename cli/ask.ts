import { createInterface, type Key } from 'node:readline';
import { Writable } from 'node:stream';
import { usesScreenReader } from '../src/client/session.js';
import { computeTextWidth } from '../src/kernel/width.js';
import { failed, interrupted, usageFault } from './exit.js';
import { keepRawMode } from './foreground.js';
import type { CommonFlags, Streams } from './invocation.js';
import { oneLine, wrapProse } from './text.js';

export interface CliQuestion {
  /** The question, without the colon. */
  ask: string;
  /** Value for empty input. */
  initial?: string;
  /** Flag that sets the value without a terminal: `--name`. */
  instead: string;
  /** Returns the reason to reject the input. The question is then asked again. */
  refuse?(input: string): string | undefined;
}

interface QuestionOptions {
  isHidden?: boolean;
  /** Whether ^X opens the editor. */
  mayBeWritten?: boolean;
  /** Aborts the question, which then throws the reason of the signal. */
  signal?: AbortSignal;
}

interface TypedInput {
  line: string;
  isForEditor: boolean;
}

const INDENT = '  ';
/** Columns of a terminal that does not report its width. */
const WIDTH = 80;
const DOTS = '············\n';

/** Questions to a person, on stderr. Never asked without a terminal or with `--no-input`. */
export class Ask {
  private readonly typedAhead: string[] = [];

  constructor(
    private readonly streams: Streams,
    private readonly flags: CommonFlags,
  ) {}

  get isPossible(): boolean {
    const { stdin, stderr } = this.streams;
    return this.flags.input !== false && stdin.isTTY === true && stderr.isTTY === true;
  }

  /** Whether more lines were typed or pasted than asked for. */
  get isAhead(): boolean {
    return this.typedAhead.length > 0;
  }

  async text(question: CliQuestion): Promise<string> {
    const { ask, initial = '' } = question;
    this.mustBePossible(question);
    const prompt = `${ask}${initial ? ` [${initial}]` : ''}: `;
    return this.accepted(question, async () => (await this.read(prompt)).trim() || initial);
  }

  async hidden(question: CliQuestion): Promise<string> {
    this.mustBePossible(question);
    return this.accepted(question, () => this.read(`${question.ask}: `, { isHidden: true }));
  }

  /**
   * Asks for one of several choices and resolves to its index, from 0. Choices that do not fit on
   * one line are listed below each other.
   */
  async choose(question: CliQuestion & { choices: string[] }): Promise<number> {
    const { ask, choices, initial = '1', instead } = question;
    const numbered = choices.map((choice, at) => `${at + 1} ${choice}`);
    const list = `${ask}   ${numbered.join('  ')}`;
    const isShort = computeTextWidth(`${list} [${initial}]: ${choices.length}`) < this.room;
    const isKnown = (input: string) => /^\d+$/.test(input) && choices[Number(input) - 1];
    const refuse = (input: string) =>
      isKnown(input) ? undefined : `Enter a number from 1 to ${choices.length}.`;
    this.mustBePossible(question);
    const indent = ask.slice(0, ask.length - ask.trimStart().length);
    if (!isShort) for (const each of numbered) this.sayFolded(each, indent);
    return Number(await this.text({ ask: isShort ? list : ask, initial, instead, refuse })) - 1;
  }

  /**
   * Asks yes or no. Enter alone takes the capital letter. The signal aborts a question that is no
   * longer needed.
   */
  async agree(
    question: CliQuestion,
    isInitiallyYes: boolean,
    signal?: AbortSignal,
  ): Promise<boolean> {
    this.mustBePossible(question);
    const prompt = `${question.ask} ${isInitiallyYes ? '[Y/n]' : '[y/N]'} `;
    const refuse = (typed: string) =>
      /^(y|yes|n|no|)$/i.test(typed) ? undefined : 'Enter y or n.';
    const read = async () => (await this.read(prompt, { signal })).trim();
    const input = await this.accepted({ refuse }, read);
    return input === '' ? isInitiallyYes : /^y/i.test(input);
  }

  /**
   * Asks before a deletion; the default is no. Throws `failed` for a no, and a usage fault
   * without a terminal and `--yes`.
   */
  async confirm(ask: string): Promise<void> {
    if (this.flags.yes) return;
    if (!this.isPossible) {
      throw usageFault('Confirmation is required, but there is no terminal. Add --yes.');
    }
    if (!(await this.agree({ ask, instead: '--yes' }, false)))
      throw failed('Not confirmed. Nothing was done.');
  }

  /** Reads lines until an empty one; ^X moves them into the editor. */
  async lines(question: CliQuestion): Promise<string> {
    const { ask, refuse } = question;
    this.mustBePossible(question);
    this.say(`${ask} (end with an empty line, ^X opens the editor):`);
    let text = '';
    for (;;) {
      const { line, isForEditor } = await this.typed(INDENT, { mayBeWritten: true });
      const more = [text, line].filter((part) => part !== '').join('\n');
      const reason = line === '' ? refuse?.(text) : undefined;
      if (isForEditor) text = await this.written(more);
      else if (reason !== undefined) this.say(reason);
      else if (line === '') return text;
      else text = more;
    }
  }

  /** Prints the text from the editor as if it had been typed. */
  private async written(draft: string): Promise<string> {
    const { writeIn } = await import('./editor.js');
    const outcome = await writeIn('text.md', draft);
    if (outcome.is === 'refused') {
      this.say(`${outcome.reason}.`);
      return draft;
    }
    const text = outcome.text.trimEnd();
    if (text !== '') for (const line of text.split('\n')) this.say(INDENT + oneLine(line));
    return text;
  }

  say(text: string): void {
    for (const line of text.split('\n')) this.sayFolded(line, '');
  }

  /**
   * Prints a line, folded to the terminal. Continuation lines of a numbered line align with its
   * text.
   */
  private sayFolded(line: string, before: string): void {
    const inset = /^\s*(?:\d+ )?/.exec(line)?.[0].length ?? 0;
    for (const each of wrapProse(line, this.room - before.length, inset))
      this.streams.stderr.write(`${before}${each}\n`);
  }

  private get room(): number {
    return this.streams.stderr.columns || WIDTH;
  }

  private async accepted(
    { refuse }: Pick<CliQuestion, 'refuse'>,
    read: () => Promise<string>,
  ): Promise<string> {
    for (;;) {
      const input = await read();
      const reason = refuse?.(input);
      if (reason === undefined) return input;
      this.say(reason);
    }
  }

  private mustBePossible({ ask, instead }: CliQuestion): void {
    if (this.isPossible) return;
    throw usageFault(
      `${ask} is required, but there is no terminal to ask for the value. Add ${instead}.`,
    );
  }

  private async read(prompt: string, how: QuestionOptions = {}): Promise<string> {
    return (await this.typed(prompt, how)).line;
  }

  private async typed(prompt: string, how: QuestionOptions): Promise<TypedInput> {
    const { stderr } = this.streams;
    const { isHidden = false } = how;
    const early = this.typedAhead.shift();
    // The reader draws a visible prompt itself, so that it can redraw the line.
    if (isHidden || early !== undefined) stderr.write(prompt);
    if (early !== undefined) {
      stderr.write(isHidden ? DOTS : `${early}\n`);
      return { line: early, isForEditor: false };
    }
    const next = await this.nextLine(prompt, how);
    if (isHidden) stderr.write(DOTS);
    if (next.isForEditor) stderr.write('\n');
    return next;
  }

  /** Reads one line. Further pasted lines answer the next questions. */
  private async nextLine(
    prompt: string,
    { isHidden, mayBeWritten, signal }: QuestionOptions,
  ): Promise<TypedInput> {
    const { stdin: input, stderr } = this.streams;
    const output = isHidden ? silent() : stderr;
    // A screen reader cannot read a line that is redrawn at each key, so the terminal edits it.
    const terminal = isHidden === true || !usesScreenReader();
    const reader = createInterface({ input, output, prompt, terminal, historySize: 0 });
    let press: (_: unknown, key: Key) => void = () => {};
    let end = (): void => {};
    const giveUpRawMode = keepRawMode(input);
    try {
      return await new Promise((resolve, reject) => {
        reader.once('line', (line) => {
          resolve({ line, isForEditor: false });
          reader.on('line', (more) => this.typedAhead.push(more));
        });
        press = (_, { ctrl, name }) => {
          if (mayBeWritten && ctrl && name === 'x')
            resolve({ line: reader.line, isForEditor: true });
        };
        input.on('keypress', press);
        end = () => {
          output.write('\n');
          reject(signal?.reason);
        };
        if (signal?.aborted) end();
        signal?.addEventListener('abort', end);
        reader.once('SIGINT', () => reject(interrupted()));
        reader.once('close', () => reject(interrupted()));
        reader.prompt();
      });
    } finally {
      giveUpRawMode();
      input.off('keypress', press);
      signal?.removeEventListener('abort', end);
      reader.close();
    }
  }
}

const silent = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });
