const PASSED = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'USER', 'LOGNAME']

/** What commands find in their environment: nothing of the host's that may hold a secret, and the folder as their home. */
export function localEnvironment(folder: string, host: NodeJS.ProcessEnv): Record<string, string> {
  const passed = PASSED.flatMap((name) => {
    const value = host[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(passed), HOME: folder }
}
