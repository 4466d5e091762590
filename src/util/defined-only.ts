type DefinedOnly<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The same object without what is undefined. */
export function definedOnly<T extends object>(value: T): DefinedOnly<T> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as DefinedOnly<T>
}
