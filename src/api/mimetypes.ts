// The 17 mimetypes the service accepts (interface, "Document").

/** Every value the service accepts in `mimetype`, in the order of the interface document. */
export const mimetypes = [
  'application/pdf',
  'application/json',
  'application/xml',
  'image/jpg',
  'image/jpeg',
  'image/png',
  'text/csv',
  'text/plain',
  'text/xml',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.ms-excel',
  'video/mp4',
  'audio/mp3',
  'audio/wav',
  'audio/ogg',
  'multipart/related',
  'message/rfc822',
] as const

export type Mimetype = (typeof mimetypes)[number]

/** True when the service accepts this mimetype. */
export function isMimetype(text: string): text is Mimetype {
  return (mimetypes as readonly string[]).includes(text)
}
