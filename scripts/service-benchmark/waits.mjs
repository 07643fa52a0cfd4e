// How long another project's GET takes while one request keeps the service busy.
export async function waits() {}
