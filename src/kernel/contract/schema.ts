import Joi from 'joi';

/**
 * The TypeScript type of what a schema lets through. Objects and arrays are asked by their own
 * types: inferring through AnySchema would mix in the types of their members.
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

/** What gives another schema, and so can be put off like the schema itself. */
const FURTHER = new Set<PropertyKey>([
  ...['allow', 'and', 'custom', 'description', 'example', 'label', 'max', 'meta', 'min', 'or'],
  ...['pattern', 'prefs', 'unique', 'with', 'xor'],
]);

/** Anything that joi made: what is asked of it without joi's knowledge is asked of its prototype. */
const PROTOTYPE = Object.getPrototypeOf(Joi.any());

const makers = new WeakMap<Schema, () => Schema>();

/**
 * A schema that is made when something is first asked of it. A start defines some thousand and asks
 * hardly one: made at once, they take a sixth of its time.
 */
export const later = <S extends Schema>(make: () => S): S => {
  let made: S | undefined;
  const schema = (): S => {
    made ??= make();
    return made;
  };
  const ask = (key: PropertyKey) => {
    const asked: object = schema();
    const answer = Reflect.get(asked, key);
    return typeof answer === 'function' ? answer.bind(asked) : answer;
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

/** The schema itself, without the detour that each question to a promised one takes. */
const itself = (schema: Schema): Schema => makers.get(schema)?.() ?? schema;

/** Of a maker whose arguments are plain values: one schema for each set of them, since none ever changes. */
const once = <A extends unknown[], S>(make: (...given: A) => S): ((...given: A) => S) => {
  const made = new Map<string, S>();
  return (...given) => {
    const key = given.join();
    const schema = made.get(key) ?? make(...given);
    made.set(key, schema);
    return schema;
  };
};

/** Text of 1 to max characters. */
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
/** ISO 8601, UTC, milliseconds. */
export const time = once(
  (): Joi.StringSchema<string> =>
    Joi.string().max(30).meta({ format: 'date-time' }).example('2026-01-31T09:30:00.000Z'),
);
/** In a query string: a day, or a time in any zone; it arrives as UTC with milliseconds. */
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
/** Why something is done, as a person says it: with something in it that can be read. */
export const reason = once(
  (max: number): Joi.StringSchema<string> =>
    Joi.string()
      .trim()
      .max(max)
      .pattern(/[^\s\p{C}\p{Z}\p{DI}\u2800]/u, 'something to read')
      .example('ticket 41'),
);
/** A password that is to be, as NFC; one that was given may be of any length and form. */
export const newPassword = once(
  (): Joi.StringSchema<string> => Joi.string().normalize('NFC').min(8).max(256),
);
/** Any JSON value at all; whoever reads it checks it. */
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

export const list = <S extends Schema>(of: S, max = 1000) =>
  later(() => Joi.array().items(itself(of)).max(max) as unknown as Joi.ArraySchema<Static<S>[]>);
/** A named schema gets another name with it: in the API document a name stands for one schema. */
export const nullable = <S extends Schema>(of: S) =>
  later(() => {
    const name = of.$_getFlag('label');
    const either = name === undefined ? of : of.label(`${name}OrNull`);
    return either.allow(null) as unknown as Joi.AnySchema<Static<S> | null>;
  });
export const optional = <S extends Schema>(of: S) =>
  later(() => of.optional() as unknown as Joi.AnySchema<Static<S> | undefined>);

/**
 * Keys are required unless wrapped in `optional()`; unknown keys are refused. They are marked before
 * the object is made: fork() makes it anew for each key, which is most of loading a contract.
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

/** The same schema, required; made once for each. */
const demanded = (schema: Schema): Schema => {
  const required = demands.get(schema) ?? schema.required();
  demands.set(schema, required);
  return required;
};

/**
 * The same object with every key optional and at least one given: the body of a PUT or PATCH. All keys
 * are replaced at once: describe() goes through everything below them, and fork() makes the object
 * anew for each.
 */
export const partial = <T>(label: string, of: Joi.ObjectSchema<T>) =>
  later(() => {
    const every: Joi.ObjectSchema = of;
    const given: { key: string; schema: Schema }[] = of.$_terms.keys ?? [];
    const keys = Object.fromEntries(given.map(({ key, schema }) => [key, schema.optional()]));
    return every.keys(keys).min(1).label(label) as unknown as Joi.ObjectSchema<Partial<T>>;
  });

/**
 * Lets the read-only fields of a reply come back in a PUT or PATCH and drops them
 * (Ours: a client may send back what it got). All other unknown keys stay refused.
 */
export const ignoring = <T>(of: Joi.ObjectSchema<T>, ...fields: string[]): Joi.ObjectSchema<T> =>
  later(() => of.concat(Joi.object(Object.fromEntries(fields.map((field) => [field, dropped])))));

/** The same object; a key is taken by its earlier name as well, which is documented no more. */
export const formerly = <T>(
  of: Joi.ObjectSchema<T>,
  names: Record<string, string>,
): Joi.ObjectSchema<T> =>
  later(() =>
    Object.entries(names).reduce((schema, [earlier, name]) => schema.rename(earlier, name), of),
  );

const dropped = Joi.any().strip().meta({ swaggerHidden: true });

/** Unknown keys are dropped instead of refused. Ours: for register and login alone. */
export const lenient = <T>(of: Joi.ObjectSchema<T>): Joi.ObjectSchema<T> =>
  later(() => of.prefs({ stripUnknown: true }));
