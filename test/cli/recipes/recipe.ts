import type { Scene, Self } from './scene.js';

/** How one command is tried. */
export interface Recipe {
  /** Makes what none of its words names. */
  needs?(scene: Scene, self: Self): Promise<unknown>;
  /** Its arguments and flags, once what they name is made. Asked for before each run. */
  words?(scene: Scene, self: Self): string[] | Promise<string[]>;
  stdin?: string;
  /** What it ends with; 0 unless given. */
  exit?: number;
  /** It takes no login. */
  isOpen?: true;
  /** It changes the login of who calls it, or what there is one of for each user. */
  isOwn?: true;
  /** The endpoint whose reply --json prints, where that is none of those that it is the verb of. */
  reply?: string;
  /** Where --json prints no reply of an endpoint: what it prints, or prints nothing at all. */
  json?: 'its own' | 'lines' | 'nothing';
  /** It prints text that others wrote, or that is a file: as it came, however wide. */
  isText?: true;
  /** Answered at the terminal, one after the other. */
  answers?: string[];
  /** Ended by ^C once it has said that, on whichever stream. */
  until?: RegExp;
}

export type Recipes = Record<string, Recipe>;
