import { Writable } from 'node:stream';
import { withColumnMarks } from '../cli/columnmarks.js';
import { drawRow, type ScreenRow, type Size } from './parts/row.js';
import type { Theme } from './theme.js';

export interface Rect extends Size {
  top: number;
  left: number;
}

/** Rectangle that is painted from its view, without React. */
export interface Region {
  /** `null` until Ink has laid out the region. */
  measure(): Rect | null;
  rows(size: Size): ScreenRow[];
}

export interface PaintedTerminal {
  write(text: string): boolean;
  once(event: 'drain', then: () => void): unknown;
}

export interface PainterOptions {
  terminal: PaintedTerminal;
  theme: Theme;
  size(): Size;
  cursor(): { top: number; left: number } | null;
}

const BEGIN = '\u001b[?2026h\u001b[?7l\u001b[?25l';
const END = '\u001b[?7h\u001b[?2026l';

/**
 * Ink's stdout. With `debug`, each write is a whole frame. Only changed rows are written, in one
 * synchronised update with autowrap off. While the terminal accepts no data, only the newest frame
 * is kept.
 */
export class Painter extends Writable {
  private frame: string[] = [];
  private readonly regions = new Set<Region>();
  /** Content of the terminal, by `row:column`. */
  private shown = new Map<string, string>();
  private isBlocked = false;
  private isPlanned = false;
  private isStopped = false;

  constructor(private readonly options: PainterOptions) {
    super({ decodeStrings: false });
  }

  /** Ink reads the size from here. */
  get columns(): number {
    return this.options.size().width;
  }
  get rows(): number {
    return this.options.size().height;
  }

  override _write(chunk: string | Buffer, _encoding: string, done: () => void): void {
    this.frame = chunk.toString().split('\n');
    this.plan();
    done();
  }

  add(region: Region): () => void {
    this.regions.add(region);
    this.plan();
    return () => {
      this.regions.delete(region);
      this.plan();
    };
  }

  /** Plans one painting after all current changes. */
  plan(): void {
    if (this.isPlanned) return;
    this.isPlanned = true;
    queueMicrotask(() => {
      this.isPlanned = false;
      this.paint();
    });
  }

  /** The next painting writes everything. */
  redraw(): void {
    this.shown.clear();
    this.plan();
  }

  /** Stops painting while another program has the screen, or resumes it. */
  pause(isStopped: boolean): void {
    this.isStopped = isStopped;
    if (!isStopped) this.redraw();
  }

  private paint(): void {
    if (this.isStopped || this.isBlocked) return;
    const size = this.options.size();
    const wanted = this.pieces(size);
    const changes = this.changesTo(wanted);
    this.shown = wanted;
    const cursor = this.options.cursor();
    if (changes === '' && cursor === null) return;
    const placed = cursor ? `${at(cursor.top, cursor.left)}\u001b[?25h` : '';
    this.isBlocked = !this.options.terminal.write(BEGIN + changes + placed + END);
    if (!this.isBlocked) return;
    this.options.terminal.once('drain', () => {
      this.isBlocked = false;
      this.paint();
    });
  }

  /** Whole rows first, then the regions inside them. */
  private pieces({ width, height }: Size): Map<string, string> {
    const pieces = new Map<string, string>();
    for (let top = 0; top < height; top++) pieces.set(`${top}:row`, this.frame[top] ?? '');
    for (const region of this.regions) {
      const rect = region.measure();
      if (!rect || rect.left >= width) continue;
      const inside = {
        width: Math.min(rect.width, width - rect.left),
        height: Math.min(rect.height, height - rect.top),
      };
      const rows = region.rows(inside);
      for (let line = 0; line < inside.height; line++) {
        const text = drawRow(rows[line] ?? [], inside.width, this.options.theme);
        pieces.set(`${rect.top + line}:${rect.left}`, text);
      }
    }
    return pieces;
  }

  private changesTo(wanted: Map<string, string>): string {
    const cleared = new Set<string>();
    let changes = '';
    // A removed piece leaves its text on the screen, so its row is written again.
    for (const key of this.shown.keys()) if (!wanted.has(key)) cleared.add(parseRowKey(key));
    for (const [key, text] of wanted) {
      const [top = '', left = ''] = key.split(':');
      const isWhole = left === 'row';
      if (isWhole ? this.shown.get(key) !== text || cleared.has(top) : false) {
        cleared.add(top);
        changes += `${at(Number(top), 0)}${withColumnMarks(text)}\u001b[0m\u001b[K`;
      } else if (!isWhole && (cleared.has(top) || this.shown.get(key) !== text)) {
        changes += `${at(Number(top), Number(left))}${withColumnMarks(text, Number(left))}\u001b[0m`;
      }
    }
    return changes;
  }
}

const parseRowKey = (key: string): string => key.slice(0, key.indexOf(':'));
const at = (top: number, left: number): string => `\u001b[${top + 1};${left + 1}H`;
