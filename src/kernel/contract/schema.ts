import Joi from 'joi';

/**
 * The TypeScript type of the values that a schema accepts. Objects and arrays are inferred from
 * their own types: inferring through AnySchema would mix in the types of their members.
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

/** The methods that return another schema, and so can be deferred like the schema itself. */
const FURTHER = new Set<PropertyKey>([
  ...['allow', 'and', 'custom', 'description', 'example', 'label', 'max', 'meta', 'min', 'or'],
  ...['pattern', 'prefs', 'unique', 'with', 'xor'],
]);

/** The prototype of all joi schemas. joi functions read some properties from it directly. */
const PROTOTYPE = Object.getPrototypeOf(Joi.any());

const makers = new WeakMap<Schema, () => Schema>();

/**
 * Returns a schema that is made when it is first used. The daemon defines some thousand schemas at
 * its start and uses hardly any of them then: made at once, they would take a sixth of the start's
 * time.
 */
export const later = <S extends Schema>(make: () => S): S => {
  let made: S | undefined;
  const schema = (): S => {
    made ??= make();
    return made;
  };
  const ask = (key: PropertyKey) => {
    const asked: object = schema();
    const member = Reflect.get(asked, key);
    return typeof member === 'function' ? member.bind(asked) : member;
  };
  const promised = new Proxy(Object.create(PROTOTYPE) as S, {
    get: (_, key) =>
      made === undefined && FURTHER.has(key)
        ? (...given: unknown[]) => later(() => ask(key)(...given))
        : ask(key),
  });
  makers.set(promised, schema);
  return promised;
};

/** Returns the schema itself, which is faster than the proxy that `later` returns. */
const itself = (schema: Schema): Schema => makers.get(schema)?.() ?? schema;

/**
 * Caches the schemas of a maker whose arguments are plain values: one schema for each set of
 * arguments, since a schema never changes.
 */
const once = <A extends unknown[], S>(make: (...given: A) => S): ((...given: A) => S) => {
  const made = new Map<string, S>();
  return (...given) => {
    const key = given.join();
    const schema = made.get(key) ?? make(...given);
    made.set(key, schema);
    return schema;
  };
};

/** Text of 1 to `max` characters. */
export const text = once((max?: number): Joi.StringSchema<string> => Joi.string().max(max ?? 200));
/** Text that may be empty. */
export const anyText = once(
  (max: number): Joi.StringSchema<string> => Joi.string().max(max).allow(''),
);
export const flag = once((): Joi.BooleanSchema<boolean> => Joi.boolean().strict());
/** A flag in a query string: `true` or `false`. */
export const queryFlag = once((): Joi.BooleanSchema<boolean> => Joi.boolean());
export const whole = once(
  (min: number, max: number): Joi.NumberSchema<number> =>
    Joi.number().integer().min(min).max(max).strict(),
);
/** A whole number in a query string. */
export const queryWhole = once(
  (min: number, max: number): Joi.NumberSchema<number> => Joi.number().integer().min(min).max(max),
);
export const amount = once(
  (min: number, max: number): Joi.NumberSchema<number> => Joi.number().min(min).max(max).strict(),
);
/** A time as ISO 8601, in UTC, with milliseconds. */
export const time = once(
  (): Joi.StringSchema<string> =>
    Joi.string().max(30).meta({ format: 'date-time' }).example('2026-01-31T09:30:00.000Z'),
);
/** A day or a time in any time zone, in a query string. It arrives as UTC with milliseconds. */
export const moment = once(
  (): Joi.StringSchema<string> => Joi.string().max(40).isoDate().meta({ format: 'date-time' }),
);
export const id = once(
  (noun: string): Joi.StringSchema<string> =>
    Joi.string().max(80).example(`${noun}_01jcx2kq7m8f3k2a9v5ztw4e6r`),
);
export const email = once(
  (): Joi.StringSchema<string> =>
    Joi.string().max(254).email({ tlds: false }).meta({ format: 'email' }),
);
/** The reason that a person gives for an action. It must contain something readable. */
export const reason = once(
  (max: number): Joi.StringSchema<string> =>
    Joi.string()
      .trim()
      .max(max)
      .pattern(/[^\s\p{C}\p{Z}\p{DI}\u2800]/u, 'readable text')
      .example('ticket 41'),
);
/** A new password, as NFC. An existing password may have any length and form. */
export const newPassword = once(
  (): Joi.StringSchema<string> => Joi.string().normalize('NFC').min(8).max(256),
);
/** Any JSON value. The code that reads it must check it. */
export const json = once(
  (): Joi.AnySchema<NonNullable<unknown> | null> => Joi.any().meta({ isAnything: true }),
);
/** A JSON object with keys that the caller chooses. */
export const record = (name: string): Joi.ObjectSchema<Record<string, unknown>> =>
  later(() => Joi.object().unknown(true).label(name));

/** One of a few words. The label names the enum in the API document. */
export const oneOf = <const V extends string>(label: string, ...values: V[]): Joi.StringSchema<V> =>
  later(() =>
    Joi.string<V>()
      .valid(...values)
      .label(label),
  );

/** A text that one schema accepts, or what is no text and another schema accepts. */
export const textOr = <T extends Schema, O extends Schema>(label: string, of: T, other: O) =>
  later(
    () =>
      Joi.alternatives()
        .conditional(Joi.string(), { otherwise: itself(other) })
        .try(itself(of))
        .label(label) as unknown as Joi.AnySchema<Static<T> | Static<O>>,
  );

export const list = <S extends Schema>(of: S, max = 1000) =>
  later(() => Joi.array().items(itself(of)).max(max) as unknown as Joi.ArraySchema<Static<S>[]>);
/**
 * Allows null as well. A schema with a label gets another label, because a label stands for one
 * schema in the API document.
 */
export const nullable = <S extends Schema>(of: S) =>
  later(() => {
    const name = of.$_getFlag('label');
    const either = name === undefined ? of : of.label(`${name}OrNull`);
    return either.allow(null) as unknown as Joi.AnySchema<Static<S> | null>;
  });
export const optional = <S extends Schema>(of: S) =>
  later(() => of.optional() as unknown as Joi.AnySchema<Static<S> | undefined>);

/**
 * An object whose keys are required unless wrapped in `optional()`. Unknown keys are refused. The
 * keys are marked as required before the object is made: fork() would make the object anew for each
 * key, which was most of the time to load a contract.
 */
export const object = <K extends Keys>(label: string, keys: K) =>
  later(() => {
    const marked = Object.entries(keys).map(([key, given]) => {
      const schema = itself(given);
      return [key, schema.$_getFlag('presence') === 'optional' ? schema : demanded(schema)];
    });
    return Joi.object(Object.fromEntries(marked)).label(label) as unknown as Joi.ObjectSchema<
      Shape<K>
    >;
  });

const demands = new WeakMap<Schema, Schema>();

/** Returns the same schema as a required one. It is made once for each schema. */
const demanded = (schema: Schema): Schema => {
  const required = demands.get(schema) ?? schema.required();
  demands.set(schema, required);
  return required;
};

/**
 * Returns the same object with every key optional. All keys are replaced at once: describe() goes
 * through everything below them, and fork() makes the object anew for each.
 */
export const allOptional = <T>(label: string, of: Joi.ObjectSchema<T>) =>
  later(() => {
    const every: Joi.ObjectSchema = of;
    const given: { key: string; schema: Schema }[] = of.$_terms.keys ?? [];
    const keys = Object.fromEntries(given.map(({ key, schema }) => [key, schema.optional()]));
    return every.keys(keys).label(label) as unknown as Joi.ObjectSchema<Partial<T>>;
  });
/** Returns the same with at least one key required: the body of a PUT or PATCH. */
export const partial = <T>(label: string, of: Joi.ObjectSchema<T>) => allOptional(label, of).min(1);

/**
 * Accepts the read-only fields of a reply in a PUT or PATCH and drops them (Ours: a client may send
 * back what it received). All other unknown keys stay refused.
 */
export const ignoring = <T>(of: Joi.ObjectSchema<T>, ...fields: string[]): Joi.ObjectSchema<T> =>
  later(() => of.concat(Joi.object(Object.fromEntries(fields.map((field) => [field, dropped])))));

/**
 * Returns the same object, which accepts a key by its earlier name as well. The earlier name is no
 * longer documented.
 */
export const formerly = <T>(
  of: Joi.ObjectSchema<T>,
  names: Record<string, string>,
): Joi.ObjectSchema<T> =>
  later(() =>
    Object.entries(names).reduce((schema, [earlier, name]) => schema.rename(earlier, name), of),
  );

const dropped = Joi.any().strip().meta({ swaggerHidden: true });

/**
 * Returns the same object, which drops unknown keys instead of refusing them. Ours: only for
 * register and login.
 */
export const lenient = <T>(of: Joi.ObjectSchema<T>): Joi.ObjectSchema<T> =>
  later(() => of.prefs({ stripUnknown: true }));

/** Returns the names of an object's keys, in their order. */
export const keyNames = (of: Joi.ObjectSchema): string[] => {
  const keys: { key: string }[] = of.$_terms.keys ?? [];
  return keys.map(({ key }) => key);
};
