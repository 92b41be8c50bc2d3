import Joi from 'joi';
import { parseMoment } from './moment.js';
import { normalizeUrl } from './url.js';

/**
 * Objects and arrays are inferred from their own types, because AnySchema would mix in the types of
 * their members.
 */
export type Static<S> =
  S extends Joi.ObjectSchema<infer T>
    ? T
    : S extends Joi.ArraySchema<infer T>
      ? T
      : S extends Joi.AnySchema<infer T>
        ? T
        : never;
// biome-ignore lint/suspicious/noExplicitAny: joi's own bound; the value type is inferred by Static
export type Schema = Joi.AnySchema<any>;

type Keys = Record<string, Schema>;
type OptionalKey<K extends Keys> = {
  [P in keyof K]: undefined extends Static<K[P]> ? P : never;
}[keyof K];
type Flat<T> = { [P in keyof T]: T[P] };
type Shape<K extends Keys> = Flat<
  { [P in Exclude<keyof K, OptionalKey<K>>]: Static<K[P]> } & {
    [P in OptionalKey<K>]?: Static<K[P]>;
  }
>;

/** Methods that return another schema and so can be deferred. */
const FURTHER = new Set<PropertyKey>([
  ...['allow', 'and', 'custom', 'description', 'example', 'label', 'max', 'meta', 'min', 'or'],
  ...['pattern', 'prefs', 'unique', 'with', 'xor'],
]);

/** joi reads some properties directly from the prototype. */
const PROTOTYPE = Object.getPrototypeOf(Joi.any());

const makers = new WeakMap<Schema, () => Schema>();

/**
 * Creates the schema on first use. Creating some thousand schemas at once would take a sixth of the
 * start time.
 */
export const lazy = <S extends Schema>(make: () => S): S => {
  let made: S | undefined;
  const schema = (): S => {
    made ??= make();
    return made;
  };
  const ask = (key: PropertyKey) => {
    const target: object = schema();
    const member = Reflect.get(target, key);
    return typeof member === 'function' ? member.bind(target) : member;
  };
  const promised = new Proxy(Object.create(PROTOTYPE) as S, {
    get: (_, key) =>
      made === undefined && FURTHER.has(key)
        ? (...given: unknown[]) => lazy(() => ask(key)(...given))
        : ask(key),
  });
  makers.set(promised, schema);
  return promised;
};

const itself = (schema: Schema): Schema => makers.get(schema)?.() ?? schema;

/** Caches schemas by their arguments, because schemas are immutable. */
const once = <A extends unknown[], S>(make: (...given: A) => S): ((...given: A) => S) => {
  const made = new Map<string, S>();
  return (...given) => {
    const key = given.join();
    const schema = made.get(key) ?? make(...given);
    made.set(key, schema);
    return schema;
  };
};

export const text = once((max?: number): Joi.StringSchema<string> => Joi.string().max(max ?? 200));
export const anyText = once(
  (max: number): Joi.StringSchema<string> => Joi.string().max(max).allow(''),
);
export const boolean = once((): Joi.BooleanSchema<boolean> => Joi.boolean().strict());
export const queryFlag = once((): Joi.BooleanSchema<boolean> => Joi.boolean());
export const integer = once(
  (min: number, max: number): Joi.NumberSchema<number> =>
    Joi.number().integer().min(min).max(max).strict(),
);
export const queryWhole = once(
  (min: number, max: number): Joi.NumberSchema<number> => Joi.number().integer().min(min).max(max),
);
export const number = once(
  (min: number, max: number): Joi.NumberSchema<number> => Joi.number().min(min).max(max).strict(),
);
/** ISO 8601 in UTC with milliseconds. */
export const time = once(
  (): Joi.StringSchema<string> =>
    Joi.string().max(30).meta({ format: 'date-time' }).example('2026-01-31T09:30:00.000Z'),
);
/** ISO 8601. A time without an offset is in UTC, not in the time zone of the machine. */
export const moment = once(
  (): Joi.StringSchema<string> =>
    Joi.string()
      .max(40)
      .custom((given: string, helpers) => {
        const at = parseMoment(given);
        return Number.isNaN(at)
          ? helpers.message({ custom: NOT_A_TIME })
          : new Date(at).toISOString();
      })
      .meta({ format: 'date-time' }),
);
const NOT_A_TIME =
  '{{#label}} must be a date or a time, such as 2026-12-31 or 2026-12-31T09:00:00Z';
/** An http or https URL as people paste it. The endpoint checks whether it is valid. */
export const url = once(
  (max: number): Joi.StringSchema<string> => Joi.string().max(max).custom(normalizeUrl),
);
export const id = once(
  (noun: string): Joi.StringSchema<string> =>
    Joi.string().max(80).example(`${noun}_01jcx2kq7m8f3k2a9v5ztw4e6r`),
);
export const email = once(
  (): Joi.StringSchema<string> =>
    Joi.string().max(254).email({ tlds: false }).meta({ format: 'email' }),
);
export const reason = once(
  (max: number): Joi.StringSchema<string> =>
    Joi.string()
      .trim()
      .max(max)
      .pattern(/[^\s\p{C}\p{Z}\p{DI}\u2800]/u, 'readable text')
      .example('ticket 41'),
);
/** Normalized to NFC. Existing passwords may have any form. */
export const newPassword = once(
  (): Joi.StringSchema<string> => Joi.string().normalize('NFC').min(8).max(256),
);
/** For actions that require a recent login. */
export const ownPassword = once(() =>
  optional(
    text(256).description('Your password. Required if your login is more than 10 minutes old'),
  ),
);
export const json = once(
  (): Joi.AnySchema<NonNullable<unknown> | null> => Joi.any().meta({ isAnything: true }),
);
export const record = (name: string): Joi.ObjectSchema<Record<string, unknown>> =>
  lazy(() => Joi.object().unknown(true).label(name));

export const oneOf = <const V extends string>(label: string, ...values: V[]): Joi.StringSchema<V> =>
  lazy(() =>
    Joi.string<V>()
      .valid(...values)
      .label(label),
  );

export const textOr = <T extends Schema, O extends Schema>(label: string, of: T, other: O) =>
  lazy(
    () =>
      Joi.alternatives()
        .conditional(Joi.string(), { otherwise: itself(other) })
        .try(itself(of))
        .label(label) as unknown as Joi.AnySchema<Static<T> | Static<O>>,
  );

export const list = <S extends Schema>(of: S, max = 1000) =>
  lazy(() => Joi.array().items(itself(of)).max(max) as unknown as Joi.ArraySchema<Static<S>[]>);
/** A labelled schema gets a new label, because labels are unique in the API document. */
export const nullable = <S extends Schema>(of: S) =>
  lazy(() => {
    const name = of.$_getFlag('label');
    const either = name === undefined ? of : of.label(`${name}OrNull`);
    return either.allow(null) as unknown as Joi.AnySchema<Static<S> | null>;
  });
export const optional = <S extends Schema>(of: S) =>
  lazy(() => of.optional() as unknown as Joi.AnySchema<Static<S> | undefined>);

/**
 * Unknown keys are refused. Keys are marked as required beforehand, because fork() would rebuild
 * the object for each key.
 */
export const object = <K extends Keys>(label: string, keys: K) =>
  lazy(() => {
    const marked = Object.entries(keys).map(([key, given]) => {
      const schema = itself(given);
      return [key, schema.$_getFlag('presence') === 'optional' ? schema : demanded(schema)];
    });
    return Joi.object(Object.fromEntries(marked)).label(label) as unknown as Joi.ObjectSchema<
      Shape<K>
    >;
  });

const demands = new WeakMap<Schema, Schema>();

const demanded = (schema: Schema): Schema => {
  const required = demands.get(schema) ?? schema.required();
  demands.set(schema, required);
  return required;
};

/** Replaces all keys at once, because fork() would rebuild the object for each. */
export const allOptional = <T>(label: string, of: Joi.ObjectSchema<T>) =>
  lazy(() => {
    const every: Joi.ObjectSchema = of;
    const given: { key: string; schema: Schema }[] = of.$_terms.keys ?? [];
    const keys = Object.fromEntries(given.map(({ key, schema }) => [key, schema.optional()]));
    return every.keys(keys).label(label) as unknown as Joi.ObjectSchema<Partial<T>>;
  });
export const partial = <T>(label: string, of: Joi.ObjectSchema<T>) => allOptional(label, of).min(1);

/** Accepts and drops read-only fields, so that clients may send back what they received. */
export const ignoreReadOnly = <T>(
  of: Joi.ObjectSchema<T>,
  ...fields: string[]
): Joi.ObjectSchema<T> =>
  lazy(() => of.concat(Joi.object(Object.fromEntries(fields.map((field) => [field, dropped])))));

export const acceptFormerNames = <T>(
  of: Joi.ObjectSchema<T>,
  names: Record<string, string>,
): Joi.ObjectSchema<T> =>
  lazy(() =>
    Object.entries(names).reduce((schema, [earlier, name]) => schema.rename(earlier, name), of),
  );

const dropped = Joi.any().strip().meta({ swaggerHidden: true });

/** Drops unknown keys. Used only for register and login. */
export const stripUnknownKeys = <T>(of: Joi.ObjectSchema<T>): Joi.ObjectSchema<T> =>
  lazy(() => of.prefs({ stripUnknown: true }));

export const keyNames = (of: Schema): string[] => {
  const keys: { key: string }[] = of.$_terms.keys ?? [];
  return keys.map(({ key }) => key);
};

export const hasKey = (of: Schema, key: string): boolean => keyNames(of).includes(key);

/** For pages that are merged also `personal`, which leaves organizations out. */
export const withOrgId = (
  of: Schema | undefined,
  { isMerged = false, isNullable = false } = {},
): Schema =>
  lazy(() => {
    if (of === undefined) return Joi.object({ orgId: ownOrgId() }).label('OrgInput');
    const own = isNullable ? nullableOrgId() : ownOrgId();
    const orgId = isMerged && hasKey(of, 'cursor') ? listedOrgId() : own;
    return itself(of).concat(Joi.object({ orgId }));
  });

const ownOrgId = once(() =>
  id('org').description(
    'ID of one of your organizations to act for. If omitted, you act for your own account',
  ),
);
const nullableOrgId = once(() =>
  nullable(id('org')).description(
    'ID of one of your organizations to act for. If omitted or `null`, you act for your own account',
  ),
);
const listedOrgId = once(() =>
  id('org').description(
    'ID of one of your organizations, or `personal` for your own resources only. If omitted, the list contains your own resources and those of your organizations',
  ),
);

/** For replies. */
export const orgId = once(() =>
  nullable(id('org')).description(
    'ID of the organization that owns the resource. `null` if the resource is your own',
  ),
);
