@0.3
Feature: Importing another setup
  An adapter looks and reads, changes nothing, and never leaves the directory it was shown.

  @EXT03-MIGRATE-001 @EXT03-MIGRATE-002 @EXT03-MIGRATE-003
  Scenario: A setup is detected and imported
    Given the extension selects migration/detect
    And the extension is ready
    When the host asks for the setup
    Then no frame breaks a rule of this scenario

  @EXT03-MIGRATE-001 @EXT03-MIGRATE-003
  Scenario: There is nothing to detect
    Given the extension selects migration/detect
    And the extension is ready
    When the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"migration/detect","params":{"source_root":«source empty»}}
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

  @EXT03-MIGRATE-004
  Scenario: A source root that is no directory of its own
    Given the extension selects migration/detect
    And the extension is ready
    Then each of these lines is answered with the error invalid_params
      | {"id":«id»,"jsonrpc":"2.0","method":"migration/detect","params":{"source_root":"setup"}}         |
      | {"id":«id»,"jsonrpc":"2.0","method":"migration/detect","params":{"source_root":""}}              |
      | {"id":«id»,"jsonrpc":"2.0","method":"migration/detect","params":{"source_root":«source gone»}}   |
      | {"id":«id»,"jsonrpc":"2.0","method":"migration/detect","params":{"source_root":«source file»}}   |
      | {"id":«id»,"jsonrpc":"2.0","method":"migration/detect","params":{"source_root":«source link»}}   |

  @EXT03-MIGRATE-005
  Scenario: Paths that no detection reports
    Given the extension selects migration/import
    And the extension is ready
    Then each of these lines is answered with the error invalid_params
      | {"id":«id»,"jsonrpc":"2.0","method":"migration/import","params":{"config_paths":["../outside"],"source_root":«source»}}             |
      | {"id":«id»,"jsonrpc":"2.0","method":"migration/import","params":{"config_paths":["/etc/passwd"],"source_root":«source»}}            |
      | {"id":«id»,"jsonrpc":"2.0","method":"migration/import","params":{"config_paths":["no/such/conform"],"source_root":«source»}}        |
      | {"id":«id»,"jsonrpc":"2.0","method":"migration/import","params":{"config_paths":["twice.json","twice.json"],"source_root":«source»}} |

  @EXT03-MIGRATE-006
  Scenario: The source stays as it is
    Given the extension selects migration/detect
    And the extension is ready
    When the host asks for the setup
    And the extension goes on serving
    Then no frame breaks a rule of this scenario

  @EXT03-MIGRATE-007
  Scenario Outline: A source that cannot be read as it is
    Given the extension selects migration/import
    And the extension is ready
    When the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"migration/detect","params":{"source_root":«source»}}
    And the extension answers with a result
    And the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"migration/import","params":{"config_paths":«found»,"source_root":<source>}}
    Then the extension answers with a result
    And the answer has /result/diagnostics/0/severity = <severity>

    Examples:
      | source          | severity  |
      | «source broken» | "error"   |
      | «source empty»  | "warning" |
