# docker build -t hengshi .      docker run -p 8080:8080 -v ./hengshi.toml:/etc/hengshi/hengshi.toml hengshi
# Start from deploy/hengshi.toml, which keeps state in /var/lib/hengshi; listen on 0.0.0.0, which needs at least one [[key]].
FROM debian:12 AS build
WORKDIR /src
COPY requirements.txt ./
COPY scripts scripts
COPY tools tools
RUN scripts/setup
COPY . .
RUN cmake --preset release && cmake --build --preset release --target hengshi && strip build/release/hengshi && \
    build/release/hengshi train packs/demo

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates libcurl4 libsimdjson14 libfmt9 \
      libspdlog1.10 libtomlplusplus3 libyaml-cpp0.7 libsqlite3-0 libre2-9 libicu72 libopencc1.1 libxxhash0 libopenblas0-pthread \
      libssl3 && \
    rm -rf /var/lib/apt/lists/* && useradd --system --home-dir /var/lib/hengshi --create-home hengshi
COPY --from=build /src/build/release/hengshi /usr/local/bin/
COPY --from=build /src/models /usr/share/hengshi/models
COPY --from=build /src/artifacts /usr/share/hengshi/artifacts
COPY LICENSE NOTICE /usr/share/doc/hengshi/
USER hengshi
WORKDIR /var/lib/hengshi
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["hengshi"]
CMD ["serve", "--config", "/etc/hengshi/hengshi.toml"]
