import type { ObjectSchema } from 'joi';
import type { Client, Endpoint } from '../src/client/index.js';
import { type TableColumn, valueAt } from './columns.js';
import { type CommandFlags, type CommandInput, type Context, command } from './command.js';
import { changedByEditor, editFlag, isEdited } from './edit.js';
import { failed } from './exit.js';
import { type ArgsOf, requestFields, requestFrom } from './fields.js';
import { freshPasswordFile, withPassword } from './input.js';
import { orgSlugs, withOrgColumn } from './orgslugs.js';
import { namePages } from './pages.js';
import {
  type ListEndpoint,
  type ListOptions,
  listCommand,
  type RequestOptions,
  requestCommand,
} from './request.js';
import { type Named, type NamedKind, resolveId } from './resolve.js';
import { safe } from './text.js';

/** An endpoint that returns one row of the list. */
export interface RowEndpoint<T> extends Endpoint {
  reply: ObjectSchema<T>;
}

export interface ChangeEndpoint<T> extends RowEndpoint<T> {
  body: ObjectSchema;
}

export interface CrudNoun<K extends string, T extends object> {
  /** `hook`: prefix of its ids, and the default name of its argument. */
  noun: string;
  /** Word for messages, if the prefix of its ids is not a word. */
  called?: string;
  argument?: string;
  /** Key of the rows in the reply of the list. */
  rows: K;
  /** Words before its verbs, if they differ from the key: `auth tokens`. */
  path?: string;
  /** Name of its list verb. Defaults to `list`. */
  listed?: string;
  columns: TableColumn<T>[];
  endpoints: {
    list: ListEndpoint<K, T>;
    get?: RowEndpoint<T>;
    update?: ChangeEndpoint<T>;
    delete?: Endpoint;
  };
  named(row: T): Named;
  /** Rows that its verbs accept. Defaults to the rows of its list. */
  kind?(client: Client): NamedKind;
  /** Whether the typed word is the id itself. The daemon then reports an unknown one. */
  isExact?: true;
}

/** Help that does not follow from the contract. */
interface VerbHelp {
  summary?: string;
  examples: string[];
  notes?: string[];
  seeAlso?: string;
}

interface CrudTarget {
  client: Client;
  id: string;
}

interface DeleteOptions<T> extends VerbHelp {
  ask(row: T): string;
  /** Whether it accepts several of them. */
  several?: true;
  /** Describes what is deleted with the row, before the question. */
  loss?(client: Client, row: T): Promise<string>;
}

interface EndOptions extends VerbHelp {
  ask(typed: string): string;
  message: string;
}

interface ActOptions<T> extends VerbHelp {
  body?: object;
  ask?(typed: string): string;
  message(row: T): string;
}

/** A request about one row, which the first argument names. */
type NounRequest<E extends Endpoint, A extends string, F extends CommandFlags> = Omit<
  RequestOptions<E, A, F>,
  'at'
> & {
  /** Resolves further arguments to parameters of the path. */
  within?(client: Client, id: string, args: ArgsOf<A>): Promise<Record<string, string>>;
};

type UpdateInputParts<F> = Pick<CommandInput<string, F>, 'flags' | 'fields' | 'data'>;

interface UpdateOptions<T, F extends CommandFlags> extends VerbHelp {
  flags?: F;
  /** Paths of the body without a flag. */
  except?: string[];
  /** Paths of the body that are hidden from the editor. */
  secrets?: string[];
  /** Whether the daemon asks for the password if the login is older than ten minutes. */
  isPrivileged?: true;
  message?(is: Named, row: T): string;
  /** Creates the request body, if the flags alone are not enough. */
  body?(context: Context, input: UpdateInputParts<F>, found: CrudTarget): Promise<unknown>;
  /** Edits the row in a form of its own instead of JSON. Resolves to null if nothing changed. */
  edit?(context: Context, found: CrudTarget): Promise<T | null>;
}

/** Creates the verbs that every noun has: list, get, update, delete, and actions on one row. */
export const crud = <K extends string, T extends object>(noun: CrudNoun<K, T>) => {
  const { argument = noun.noun, rows, endpoints, columns, named } = noun;
  const args = `<${argument}>`;
  const typedIn = (input: object): string => String(valueAt(input, argument) ?? '');

  const id = async (client: Client, typed: string): Promise<string> => {
    if (noun.isExact) return typed;
    return resolveId(typed, noun.kind?.(client) ?? rowKind(noun, client));
  };

  const find = async (context: Context, typed: string): Promise<CrudTarget> => {
    const client = await context.client();
    return { client, id: await id(client, typed) };
  };

  /** Reads one row, from the list if no endpoint returns one. */
  const read = async (client: Client, found: string, cursor?: string): Promise<T> => {
    const { get, list } = endpoints;
    if (get) return client.call(get, parameter(get, found));
    const reply = await client.call(list, { query: { limit: 200, cursor } });
    const row = reply[rows].find((each) => named(each).id === found);
    if (row) return row;
    if (reply.nextCursor === null)
      throw failed(`No ${noun.called ?? noun.noun} has the id "${safe(found)}".`);
    return read(client, found, reply.nextCursor);
  };

  const request = <
    E extends Endpoint,
    const A extends string = string,
    F extends CommandFlags = CommandFlags,
  >({
    within,
    ...options
  }: NounRequest<E, A, F>) =>
    requestCommand<E, A, F>({
      ...options,
      at: async (client, input) => {
        const found = await id(client, typedIn(input));
        return { ...parameter(options.endpoint, found), ...(await within?.(client, found, input)) };
      },
    });

  const update = <F extends CommandFlags>({
    flags,
    except,
    secrets,
    isPrivileged,
    message = ({ name }) => `Updated ${safe(name)}.`,
    body: bodyOf,
    edit: ownEdit,
    ...help
  }: UpdateOptions<T, F>) => {
    const endpoint = declared(endpoints.update, rows);
    const schema = endpoint.body;
    return command({
      ...help,
      name: 'update',
      args,
      calls: [endpoint],
      fields: () => requestFields(schema, except),
      takesData: true,
      flags: Object.assign({}, flags, {
        edit: editFlag,
        ...(isPrivileged && { passwordFile: freshPasswordFile }),
      }),
      run: async (context, input) => {
        const first = bodyOf && (await find(context, typedIn(input.args)));
        const isByEditor = isEdited(context, input);
        const plain =
          isByEditor || bodyOf ? undefined : await requestFrom(schema, input, context.at);
        const found = first ?? (await find(context, typedIn(input.args)));
        const at = parameter(endpoint, found.id);
        const send = (body: object) => {
          const call = (password: object) =>
            found.client.call(endpoint, { ...at, body: { ...body, ...password } });
          return isPrivileged ? withPassword(context, input.flags, call) : call({});
        };
        const inJson = async () => {
          const present = await read(found.client, found.id);
          const title = `${noun.called ?? noun.noun} ${named(present).name}`;
          return changedByEditor(context, { title, schema, present, secrets, send });
        };
        const row = isByEditor
          ? await (ownEdit ?? inJson)(context, found)
          : await send(plain ?? (await bodyOf?.(context, input, found)));
        if (row) context.out.done(message(named(row), row), row, columns);
      },
    });
  };

  /** Creates a `delete` that reads the row first, so that the question can describe it. */
  const deletion = ({ ask, loss, several, ...help }: DeleteOptions<T>) => {
    const remove = declared(endpoints.delete, rows);
    return command({
      ...help,
      name: 'delete',
      args: several ? `<${argument}...>` : args,
      calls: [remove],
      run: async (context, input) => {
        for (const typed of [valueAt(input.args, argument)].flat()) {
          const { client, id: found } = await find(context, String(typed));
          const row = await read(client, found);
          if (loss) context.out.note(await loss(client, row));
          await context.ask.confirm(ask(row));
          await client.call(remove, parameter(remove, named(row).id));
          context.out.done(`Deleted ${safe(named(row).name)}.`);
        }
      },
    });
  };

  return {
    find,
    id,
    request,
    update,
    delete: deletion,
    list: (options: Pick<ListOptions<K, T, ''>, 'examples' | 'next' | 'missing' | 'seeAlso'>) =>
      listCommand({ ...noun, ...options, endpoint: endpoints.list }),
    get: (help: VerbHelp) =>
      request({
        ...help,
        name: 'get',
        args,
        endpoint: declared(endpoints.get, rows),
        show: async (context, row) =>
          context.out.item(row, await withOrgColumn(context, [row], columns)),
      }),
    /** Creates a `delete` that asks about the typed name, without reading the row. */
    end: ({ ask, message, ...help }: EndOptions) =>
      request({
        ...help,
        name: 'delete',
        args,
        endpoint: declared(endpoints.delete, rows),
        confirm: (input) => ask(typedIn(input.args)),
        show: ({ out }) => out.note(message),
      }),
    act: (name: string, endpoint: RowEndpoint<T>, { body, ask, message, ...help }: ActOptions<T>) =>
      request({
        ...help,
        name,
        args,
        endpoint,
        more: body && (() => body),
        confirm: ask && ((input) => ask(typedIn(input.args))),
        show: ({ out }, row) => out.done(message(row), row, columns),
      }),
  };
};

const rowKind = <K extends string, T extends object>(
  { noun, called = noun, rows, path = rows, listed = 'list', endpoints, named }: CrudNoun<K, T>,
  client: Client,
): NamedKind => ({
  noun,
  called,
  listed: `${path} ${listed}`,
  page: namePages(rows, (query) => client.call(endpoints.list, { query }), named),
  slugs: () => orgSlugs(client),
});

/** Sets the id as the first parameter of the path. */
const parameter = ({ path }: Endpoint, id: string): Record<string, string> => ({
  [/\{(\w+)\}/.exec(path)?.[1] ?? 'id']: id,
});

const declared = <E>(endpoint: E | undefined, rows: string): E => {
  if (!endpoint) throw new TypeError(`No such endpoint for ${rows}`);
  return endpoint;
};
