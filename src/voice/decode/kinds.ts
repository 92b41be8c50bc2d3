/** The decoders that come with the daemon. */
export type DecoderName = 'wav' | 'opus' | 'vorbis' | 'flac' | 'mp3';

/** A kind of file that holds audio. */
export interface AudioKind {
  mediaType: string;
  /** The decoder that comes with the daemon; null: ffmpeg has to read it. */
  decoder: DecoderName | null;
  /** The name of the format as ffmpeg has it, so that it tries no other one. */
  format: string;
}

const kind = (mediaType: string, decoder: DecoderName | null, format: string): AudioKind => ({
  mediaType,
  decoder,
  format,
});

const OPUS = kind('audio/ogg; codecs=opus', 'opus', 'ogg');
const VORBIS = kind('audio/ogg; codecs=vorbis', 'vorbis', 'ogg');
const OGG_FLAC = kind('audio/ogg; codecs=flac', 'flac', 'ogg');
const CAF = kind('audio/x-caf', null, 'caf');
const AU = kind('audio/basic', null, 'au');

/** The kinds by the media types that their first bytes tell. */
const KINDS: Record<string, AudioKind> = Object.fromEntries(
  [
    kind('audio/wav', 'wav', 'wav'),
    OPUS,
    kind('audio/flac', 'flac', 'flac'),
    kind('audio/mpeg', 'mp3', 'mp3'),
    kind('audio/ogg', null, 'ogg'),
    kind('audio/mp4', null, 'mov'),
    kind('audio/x-m4a', null, 'mov'),
    kind('video/mp4', null, 'mov'),
    kind('video/quicktime', null, 'mov'),
    kind('video/3gpp', null, 'mov'),
    kind('video/webm', null, 'matroska'),
    kind('video/matroska', null, 'matroska'),
    kind('audio/amr', null, 'amr'),
    kind('audio/aac', null, 'aac'),
    kind('audio/aiff', null, 'aiff'),
    kind('audio/x-ms-asf', null, 'asf'),
    kind('video/x-ms-asf', null, 'asf'),
    kind('audio/wavpack', null, 'wv'),
    kind('video/mp2t', null, 'mpegts'),
    kind('video/vnd.avi', null, 'avi'),
    kind('audio/ape', null, 'ape'),
  ].map((each) => [each.mediaType, each]),
);

/** The bytes at the beginning of a file that are looked at. */
export const AUDIO_HEAD_BYTES = 64 * 1024;

/** Returns the kind of a file by its first bytes, whatever its name; null: it is no audio. */
export const audioKindOf = async (head: Buffer): Promise<AudioKind | null> => {
  const start = head.subarray(0, 4).toString('latin1');
  if (start === 'caff') return CAF;
  if (start === '.snd') return AU;
  // The mark of UTF-16 is like the beginning of an MPEG frame.
  if (/^(\xff\xfe|\xfe\xff)/.test(start)) return null;
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(head.subarray(0, AUDIO_HEAD_BYTES)).catch(() => undefined);
  if (found === undefined) return null;
  if (/^audio\/ogg/.test(found.mime)) return oggKind(head);
  return KINDS[found.mime] ?? null;
};

/** Returns the kind of an Ogg file by the first packet of its first stream (RFC 3533). */
const oggKind = (head: Buffer): AudioKind => {
  const first = head.subarray(0, 128).toString('latin1');
  if (first.includes('OpusHead')) return OPUS;
  if (first.includes('\x01vorbis')) return VORBIS;
  if (first.includes('\x7fFLAC')) return OGG_FLAC;
  return kind('audio/ogg', null, 'ogg');
};
