import type { Generated } from 'kysely';

/** Storage and view of a column. `isPreset`: has a default. */
export interface Column<Stored, Shown = Stored, IsPreset extends boolean = boolean> {
  read(stored: Stored): Shown;
  write(shown: Shown): Stored;
  isPreset: IsPreset;
}

/** JSON whose structure only its module knows. */
export interface AnyJson {
  readonly json: unique symbol;
}

export interface Table<N extends string, C> {
  name: N;
  of: C;
  columns: (keyof C & string)[];
}

/** As stored by SQLite: JSON and times are TEXT, booleans 0 or 1. */
export type Row<T extends { of: unknown }> = { [K in keyof T['of']]: Stored<T['of'][K]> };

export type Insertable<C> = {
  [K in keyof C]: C[K] extends { isPreset: true } ? Generated<Stored<C[K]>> : Stored<C[K]>;
};

export type Stored<C> = C extends { write(shown: never): infer S } ? S : never;
export type Shown<C> = C extends { read(stored: never): infer V } ? V : never;

export type CamelCase<N extends string> = N extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : N;

const same = <T>(value: T): T => value;

const plain = <T>(): Column<T, T, false> => ({ read: same, write: same, isPreset: false });

export const text = plain<string>();
export const number = plain<number>();
export const bytes = plain<Uint8Array>();
export const flag: Column<number, boolean, false> = {
  read: (stored) => stored === 1,
  write: (shown) => (shown ? 1 : 0),
  isPreset: false,
};
export const literal = <T extends string>(): Column<T, T, false> => plain<T>();
export const json = <T = AnyJson>(): Column<string, T, false> => ({
  read: JSON.parse,
  write: JSON.stringify,
  isPreset: false,
});

export const orNull = <S, V>(of: Column<S, V>): Column<S | null, V | null, false> => ({
  read: (stored) => (stored === null ? null : of.read(stored)),
  write: (shown) => (shown === null ? null : of.write(shown)),
  isPreset: false,
});

export const preset = <S, V>(of: Column<S, V>): Column<S, V, true> => ({ ...of, isPreset: true });

export const table = <const N extends string, C extends Record<string, object>>(
  name: N,
  of: C,
): Table<N, C> => ({ name, of, columns: Object.keys(of) });
