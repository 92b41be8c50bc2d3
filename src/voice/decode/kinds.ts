export type DecoderName = 'wav' | 'opus' | 'vorbis' | 'flac' | 'mp3';

export interface AudioKind {
  mediaType: string;
  /** null: requires ffmpeg. */
  decoder: DecoderName | null;
  /** ffmpeg format name, so that it tries no other. */
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

/** By detected media type. */
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

/** As people name them. */
export const FORMATS = {
  builtIn: 'WAV, FLAC, MP3, and Ogg with Opus, Vorbis or FLAC',
  ffmpeg:
    'MP4, M4A, MOV, 3GP, WebM, Matroska, AAC, AMR, AIFF, AU, CAF, WMA, WavPack, APE, MPEG-TS and AVI',
};

export const AUDIO_HEAD_BYTES = 64 * 1024;

/** By content, regardless of the name; null: not audio. */
export const detectAudioKind = async (head: Buffer): Promise<AudioKind | null> => {
  const start = head.subarray(0, 4).toString('latin1');
  if (start === 'caff') return CAF;
  if (start === '.snd') return AU;
  // A UTF-16 byte order mark looks like an MPEG frame.
  if (/^(\xff\xfe|\xfe\xff)/.test(start)) return null;
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(head.subarray(0, AUDIO_HEAD_BYTES)).catch(() => undefined);
  if (found === undefined) return null;
  if (/^audio\/ogg/.test(found.mime)) return oggKind(head);
  return KINDS[found.mime] ?? null;
};

/** By the first packet of its first stream (RFC 3533). */
const oggKind = (head: Buffer): AudioKind => {
  const first = head.subarray(0, 128).toString('latin1');
  if (first.includes('OpusHead')) return OPUS;
  if (first.includes('\x01vorbis')) return VORBIS;
  if (first.includes('\x7fFLAC')) return OGG_FLAC;
  return kind('audio/ogg', null, 'ogg');
};
