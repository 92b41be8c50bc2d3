import { EgressRefused, hostAndPort } from '../../kernel/egress.js';
import { HttpFailure, NamedError } from '../../kernel/failure.js';
import type { Http } from '../../kernel/http.js';
import { isRecord, memberAt, numberAt, parsedJson, textAt } from '../../kernel/jsonvalue.js';
import { bearer, ollamaRoot } from './adapters.js';
import type { Price } from './model.js';

/** Null for values that the server does not report. */
export interface AvailableModel {
  modelId: string;
  contextWindow: number | null;
  maxOutputTokens: number | null;
  /** USD per million tokens. */
  price: Price | null;
  /** Size on the disk of the server. */
  sizeBytes: number | null;
}

export interface ModelServer {
  baseUrl: string;
  apiKey?: string;
}

/** The message does not quote the server. */
export class ModelListUnavailable extends NamedError {}

const MOST = 1000;

export const ollamaModels = async (http: Http, at: ModelServer): Promise<AvailableModel[]> => {
  const reply = await get(http, at, `${ollamaRoot(at.baseUrl)}/api/tags`);
  return readModelRows(reply, 'models').flatMap((row) => {
    const modelId = textIn(row, 'name');
    return modelId === null ? [] : [{ ...nothing, modelId, sizeBytes: wholeIn(row, 'size') }];
  });
};

/** From `/model/info`, or only names if that is closed. Throws ModelListUnavailable. */
export const litellmModels = async (http: Http, at: ModelServer): Promise<AvailableModel[]> => {
  const root = at.baseUrl.replace(/(\/v1)?\/*$/, '');
  try {
    const described = readModelRows(await get(http, at, `${root}/model/info`), 'data');
    return described.flatMap(describedModel);
  } catch (error) {
    if (!(error instanceof ModelListUnavailable)) throw error;
    const named = readModelRows(await get(http, at, `${root}/v1/models`), 'data');
    return named.flatMap((row) => {
      const modelId = textIn(row, 'id');
      return modelId === null ? [] : [{ ...nothing, modelId }];
    });
  }
};

const nothing = { contextWindow: null, maxOutputTokens: null, price: null, sizeBytes: null };

const describedModel = (row: Record<string, unknown>): AvailableModel[] => {
  const modelId = textIn(row, 'model_name');
  const about = row.model_info;
  if (modelId === null) return [];
  if (!isRecord(about)) return [{ ...nothing, modelId }];
  const input = numberAt(about, 'input_cost_per_token');
  const output = numberAt(about, 'output_cost_per_token');
  const price =
    input === null || output === null
      ? null
      : { inputPerMTok: perMillion(input), outputPerMTok: perMillion(output) };
  return [
    {
      ...nothing,
      modelId,
      contextWindow: wholeIn(about, 'max_input_tokens'),
      maxOutputTokens: wholeIn(about, 'max_output_tokens'),
      price,
    },
  ];
};

/** Removes the noise of floating-point multiplication. */
const perMillion = (perToken: number): number => Number((perToken * 1e6).toPrecision(9));

const get = async (http: Http, { apiKey }: ModelServer, url: string): Promise<unknown> => {
  const { hostname } = new URL(url);
  const allow = [hostAndPort(url)];
  const reply = await http
    .request({ method: 'GET', url, headers: bearer(apiKey), allow, redirects: 0 })
    .catch((error: unknown) => {
      const isKnown = error instanceof HttpFailure || error instanceof EgressRefused;
      throw isKnown ? new ModelListUnavailable(error.message) : error;
    });
  if (reply.status !== 200)
    throw new ModelListUnavailable(
      `${hostname} answered with status ${reply.status}. Check the base URL and the API key`,
    );
  const json = parsedJson(reply.body.toString());
  if (json === undefined)
    throw new ModelListUnavailable(
      `${hostname} sent an invalid list of models. Check the base URL`,
    );
  return json;
};

const readModelRows = (reply: unknown, key: string): Record<string, unknown>[] => {
  const rows = memberAt(reply, key);
  if (!Array.isArray(rows))
    throw new ModelListUnavailable('The server sent an invalid list of models. Check the base URL');
  return rows.slice(0, MOST).filter(isRecord);
};

const textIn = (of: unknown, key: string): string | null => {
  const value = textAt(of, key);
  return value !== null && value !== '' && value.length <= 200 ? value : null;
};

const wholeIn = (of: unknown, key: string): number | null => {
  const value = numberAt(of, key);
  return Number.isSafeInteger(value) ? value : null;
};
