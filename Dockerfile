# docker build -t demosaic-ntc . && docker run --rm -v "$PWD:/data" demosaic-ntc photo.dng out.png
FROM python:3.12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends make && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN make wheel

FROM python:3.12-slim
COPY --from=build /source/dist/*.whl /tmp/
RUN pip install --no-cache-dir /tmp/*.whl && rm /tmp/*.whl && useradd --create-home photographer
USER photographer
WORKDIR /data
ENTRYPOINT ["demosaic-ntc"]
