import type { FrozenClock, TestApp } from '../harness/app.js';

export interface Account {
  id: string;
  username: string;
  token: string;
}

/** What a recipe cooks with. */
export interface Kitchen {
  app: TestApp;
  clock: FrozenClock;
  admin: Account;
  /** Somebody new. */
  guest(): Promise<Account>;
}

/** A call that is right: by whom, on what and with which body. */
export interface Trial {
  /** The admin unless given; null: nobody. */
  token?: string | null;
  path?: Record<string, string>;
  body?: unknown;
}

export type Recipe = (kitchen: Kitchen) => Promise<Trial>;
